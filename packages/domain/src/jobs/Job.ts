/** A job in the control plane (interface: Job; decisions: Jobs). Amounts are nano-USD, times are `Date`. */
import type { NanoUsd } from "../billing/Money.ts"

export const jobStatuses = ["queued", "starting", "running", "succeeded", "failed", "cancelled", "timed_out"] as const
export type JobStatus = (typeof jobStatuses)[number]

export const terminalStatuses = ["succeeded", "failed", "cancelled", "timed_out"] as const
export const isTerminal = (status: JobStatus): boolean => (terminalStatuses as ReadonlyArray<string>).includes(status)

/** The reason why a job ended or is being stopped, if it is not its command's exit. */
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

/** The requested job, unchanged over its whole life. The spec has the names of `env`, not the values. */
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
  /** Missing if the caller gave none, and in jobs from before this field. */
  readonly description?: string
}

export interface Job {
  readonly id: string
  readonly name: string
  readonly status: JobStatus
  readonly spec: JobSpec
  readonly volumeId: string | null
  readonly labels: Readonly<Record<string, string>> | null
  readonly machineId: string
  /** The provider has accepted the machine's launch; before that, `instance_id` on the wire is null. */
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
  /** The cost so far, or the final cost of an ended job; null before the machine runs. */
  readonly cost: NanoUsd | null
  /** Bytes that the command wrote. At most `LIMIT_BYTES` of them are stored (`machines/OutputLimit.ts`). */
  readonly outputBytes: number
}

/**
 * The cost of a job before it is submitted, computed by the code that admits and bills jobs (decisions: POST
 * /jobs/quote).
 */
export interface Quote {
  readonly price: NanoUsd
  readonly maxCost: NanoUsd
  readonly available: NanoUsd
  readonly budgetRemaining: NanoUsd | null
  readonly affordable: boolean
  readonly launchScriptBytes: number
  readonly launchScriptLimitBytes: number
}
