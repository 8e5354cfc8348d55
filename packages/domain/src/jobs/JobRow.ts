/** A job's row as the database gives it, as the reconciler uses it, and as callers see it. */
import type { NanoUsd } from "../billing/Money.ts"
import { costAt, type MachineFacts } from "../machines/MachineLifecycle.ts"
import type { FactColumns, MachineRow, Texts } from "../machines/MachineRow.ts"
import { factsOf } from "../machines/MachineRow.ts"
import { type Job, type JobSpec, type JobStatus, type StatusReason, isTerminal } from "./Job.ts"
import type { JobState, JobTerms } from "./JobLifecycle.ts"

const MINUTE_MS = 60_000

/** The columns of a job, and what is held for it. */
export interface JobRow {
  readonly id: string
  readonly workspace_id: string
  readonly environment_id: string
  readonly machine_id: string
  readonly name: string
  readonly status: JobStatus
  readonly spec: JobSpec
  readonly price: bigint
  readonly volume_id: string | null
  readonly labels: Readonly<Record<string, string>> | null
  readonly created_at: Date
  readonly started_at: Date | null
  readonly ended_at: Date | null
  readonly cancel_requested_at: Date | null
  readonly stop_reason: StatusReason | null
  readonly stop_at: Date | null
  readonly exit_code: number | null
  readonly error: string | null
  readonly status_reason: StatusReason | null
  readonly cost: bigint | null
  readonly fence: bigint
  readonly events: bigint
  readonly hold: bigint | null
}

/** A job with columns of its machine, as `json`: times are texts. */
export interface JobWithMachineRow extends JobRow {
  readonly machine: MachineJson
}

/** A job that this replica has claimed. */
export interface ClaimedJob extends JobRow {
  readonly machine: MachineFacts
}

type MachineJson = Texts<FactColumns & Pick<MachineRow, "output_bytes">>

const date = (text: string | null): Date | null => (text === null ? null : new Date(text))
const ms = (at: Date | null): number | null => (at === null ? null : at.getTime())

const machineOf = (machine: MachineJson): MachineFacts =>
  factsOf({
    ...machine,
    requested_at: date(machine.requested_at),
    running_at: date(machine.running_at),
    command_started_at: date(machine.command_started_at),
    command_exited_at: date(machine.command_exited_at),
    stop_requested_at: date(machine.stop_requested_at),
    stopped_at: date(machine.stopped_at),
    absent_since: date(machine.absent_since)
  })

export const claimedOf = (row: JobWithMachineRow): ClaimedJob => ({ ...row, machine: machineOf(row.machine) })

export const stateOf = (row: JobRow): JobState => ({
  status: row.status,
  startedAt: ms(row.started_at),
  endedAt: ms(row.ended_at),
  stop:
    row.stop_reason === null || row.stop_at === null ? null : { reason: row.stop_reason, at: row.stop_at.getTime() },
  exitCode: row.exit_code,
  error: row.error,
  statusReason: row.status_reason
})

export const termsOf = (row: Pick<JobRow, "created_at" | "spec" | "price">): JobTerms => ({
  createdAt: row.created_at.getTime(),
  maxRuntimeMs: row.spec.maxRuntimeMinutes * MINUTE_MS,
  capacityWaitMs: row.spec.capacityWaitMinutes * MINUTE_MS,
  price: row.price,
  maxCost: row.spec.maxCostNanoUsd === null ? null : BigInt(row.spec.maxCostNanoUsd)
})

/** Not one that only waited to be asked for, nor one that was refused. */
const existed = ({ requested_at, running_at, status }: MachineJson): boolean =>
  running_at !== null || (requested_at !== null && status !== "wanted" && status !== "failed")

/** The job as callers see it at `now`. */
export const jobOf = (row: JobWithMachineRow, now: number): Job => {
  const cost: NanoUsd | null = isTerminal(row.status) ? row.cost : costAt(row.price, machineOf(row.machine), now)
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    spec: row.spec,
    volumeId: row.volume_id,
    labels: row.labels,
    machineId: row.machine_id,
    machineExists: existed(row.machine),
    environmentId: row.environment_id,
    price: row.price,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    cancelRequestedAt: row.cancel_requested_at,
    exitCode: row.exit_code,
    error: row.error,
    statusReason: row.status_reason,
    cost,
    outputBytes: row.machine.output_bytes
  }
}
