/** A job as the control plane knows it (interface: Job; decisions: Jobs). Amounts in nano-USD, times as `Date`. */
import type { NanoUsd } from "../billing/Money.ts"

export const jobStatuses = ["queued", "starting", "running", "succeeded", "failed", "cancelled", "timed_out"] as const
export type JobStatus = (typeof jobStatuses)[number]

export const terminalStatuses = ["succeeded", "failed", "cancelled", "timed_out"] as const
export const isTerminal = (status: JobStatus): boolean => (terminalStatuses as ReadonlyArray<string>).includes(status)

/** Why a job ended, or is being stopped, other than by its command's exit. */
export const statusReasons = [
  "no_capacity",
  "launch_failed",
  "machine_lost",
  "budget_reached",
  "balance_exhausted",
  "cost_ceiling",
  "max_runtime",
  "cancelled_by_user",
  "instance_stopped"
] as const
export type StatusReason = (typeof statusReasons)[number]

/** What was asked for: kept as it is for the job's whole life. Values of `env` are not here. */
export interface JobSpec {
  readonly command: string
  readonly gpuType: string
  readonly gpuCount: number
  readonly template: string
  readonly image: string | null
  readonly envKeys: ReadonlyArray<string>
  readonly maxRuntimeMinutes: number
  readonly capacityWaitMinutes: number
  readonly maxCostNanoUsd: string | null
  readonly region: string | null
}

export interface Job {
  readonly id: string
  readonly name: string
  readonly status: JobStatus
  readonly spec: JobSpec
  readonly volumeId: string | null
  readonly labels: Readonly<Record<string, string>> | null
  readonly machineId: string
  /** Whether the machine was ever asked for with success: `instance_id` of the wire is null before. */
  readonly machineExists: boolean
  readonly environmentId: string
  /** Nano-USD an hour for the whole machine. */
  readonly price: NanoUsd
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly endedAt: Date | null
  readonly cancelRequestedAt: Date | null
  readonly exitCode: number | null
  readonly error: string | null
  readonly statusReason: StatusReason | null
  /** So far, or final once ended; null before the machine runs. */
  readonly cost: NanoUsd | null
  /** Bytes that the command wrote; of them at most `LIMIT_BYTES` are kept (`machines/OutputLimit.ts`). */
  readonly outputBytes: number
}

/** What a job would cost, found by the code that admits and bills (decisions: POST /jobs/quote). */
export interface Quote {
  readonly price: NanoUsd
  readonly maxCost: NanoUsd
  readonly available: NanoUsd
  readonly budgetRemaining: NanoUsd | null
  readonly affordable: boolean
  readonly launchScriptBytes: number
  readonly launchScriptLimitBytes: number
}
