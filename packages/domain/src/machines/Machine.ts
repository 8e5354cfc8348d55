/** A machine in the control plane, for a job or rented: an entry of `GET /instances` (decisions: Instances). */
import { Schema } from "effect"
import type { NanoUsd } from "../billing/Money.ts"

/**
 * `wanted`: recorded, and its launch is requested. `launching`: the provider accepted it. `running`: billed.
 * `stopping`: its stop is requested. `stopped`: confirmed gone. `failed`: never ran, and confirmed not to exist.
 */
export const machineStatuses = ["wanted", "launching", "running", "stopping", "stopped", "failed"] as const
export type MachineStatus = (typeof machineStatuses)[number]

export interface MachineSpec {
  readonly gpuType: string
  readonly gpuCount: number
  readonly template: string
  readonly image: string | null
  readonly region: string | null
}

export interface Machine {
  readonly id: string
  readonly name: string
  readonly status: MachineStatus
  readonly spec: MachineSpec
  readonly jobId: string | null
  readonly volumeId: string | null
  /** Nano-USD an hour for the whole machine. */
  readonly price: NanoUsd
  readonly cost: NanoUsd | null
  readonly createdAt: Date
  readonly runningAt: Date | null
  readonly stoppedAt: Date | null
}

export class MachineNotFound extends Schema.TaggedError<MachineNotFound>()("MachineNotFound", { id: Schema.String }) {}
