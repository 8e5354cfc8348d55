/** A job's row as the database gives it, as the reconciler uses it, and as callers see it. */
import { Schema } from "effect"
import type { NanoUsd } from "../billing/Money.ts"
import { jsonOf } from "../database/RowDecoder.ts"
import { costAt, type MachineFacts } from "../machines/MachineLifecycle.ts"
import { FactTexts, factsOf } from "../machines/MachineRow.ts"
import { isTerminal, type Job, type JobSpec, jobStatuses, statusReasons } from "./Job.ts"
import type { JobState, JobTerms } from "./JobLifecycle.ts"

const MINUTE_MS = 60_000

/** The columns of a job that its stores read, and its open hold. */
export const JobRow = Schema.Struct({
  id: Schema.String,
  workspace_id: Schema.String,
  environment_id: Schema.String,
  machine_id: Schema.String,
  name: Schema.String,
  status: Schema.Literals(jobStatuses),
  spec: jsonOf<JobSpec>(),
  price: Schema.BigInt,
  volume_id: Schema.NullOr(Schema.String),
  labels: Schema.NullOr(jsonOf<Readonly<Record<string, string>>>()),
  created_at: Schema.Date,
  started_at: Schema.NullOr(Schema.Date),
  ended_at: Schema.NullOr(Schema.Date),
  cancel_requested_at: Schema.NullOr(Schema.Date),
  stop_reason: Schema.NullOr(Schema.Literals(statusReasons)),
  stop_at: Schema.NullOr(Schema.Date),
  exit_code: Schema.NullOr(Schema.Number),
  error: Schema.NullOr(Schema.String),
  status_reason: Schema.NullOr(Schema.Literals(statusReasons)),
  cost: Schema.NullOr(Schema.BigInt),
  fence: Schema.BigInt,
  events: Schema.BigInt,
  hold: Schema.NullOr(Schema.BigInt)
})
export type JobRow = typeof JobRow.Type

/** A job with columns of its machine, as `json`: times are texts. */
export const JobWithMachineRow = Schema.Struct({ ...JobRow.fields, machine: FactTexts })
export type JobWithMachineRow = typeof JobWithMachineRow.Type

/** A job that this replica has claimed. */
export interface ClaimedJob extends JobRow {
  readonly machine: MachineFacts
}

type MachineJson = JobWithMachineRow["machine"]

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

/** False for a machine that still waits for capacity, and for one that the provider refused. */
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
