/** A machine's row as the database gives it, and as the reconciler uses it. */
import { Schema } from "effect"
import { jsonOf } from "../database/RowDecoder.ts"
import { type MachineSpec, machineStatuses } from "./Machine.ts"
import { exitCauses, type MachineFacts } from "./MachineLifecycle.ts"

/** The launch spec as stored in `machines.spec`: the public spec and the fields that are not shown. */
export interface StoredSpec extends MachineSpec {
  /** Undefined for a rented machine. */
  readonly command?: string
  /** Variables that are no secret: `SERVICE_*`. */
  readonly variables: Readonly<Record<string, string>>
  readonly maxRuntimeMs?: number
}

/** A column of a time, or of a text for what a row of JSON holds. */
const factsWith = <Time extends Schema.Top>(time: Time) => ({
  status: Schema.Literals(machineStatuses),
  requested_at: Schema.NullOr(time),
  running_at: Schema.NullOr(time),
  command_started_at: Schema.NullOr(time),
  command_exited_at: Schema.NullOr(time),
  exit_code: Schema.NullOr(Schema.Number),
  exit_why: Schema.NullOr(Schema.Literals(exitCauses)),
  stop_requested_at: Schema.NullOr(time),
  stopped_at: Schema.NullOr(time),
  absent_since: Schema.NullOr(time),
  failure: Schema.NullOr(Schema.String)
})

/** The columns of a machine's row that hold its facts. */
const FactColumns = Schema.Struct(factsWith(Schema.Date))
export type FactColumns = typeof FactColumns.Type

/** The same as `to_json` writes them, with the size of the output. */
export const FactTexts = Schema.Struct({ ...factsWith(Schema.String), output_bytes: Schema.Number })

/** The columns of a machine that its stores read. */
export const MachineRow = Schema.Struct({
  ...FactColumns.fields,
  id: Schema.String,
  workspace_id: Schema.String,
  environment_id: Schema.String,
  job_id: Schema.NullOr(Schema.String),
  name: Schema.String,
  spec: jsonOf<StoredSpec>(),
  price: Schema.BigInt,
  volume_id: Schema.NullOr(Schema.String),
  sealed: Schema.NullOr(Schema.Uint8Array),
  output_bytes: Schema.BigInt,
  created_at: Schema.Date,
  fence: Schema.BigInt,
  events: Schema.BigInt
})
export type MachineRow = typeof MachineRow.Type

/** A machine that this replica has claimed. */
export interface ClaimedMachine {
  readonly id: string
  readonly workspaceId: string
  readonly jobId: string | null
  readonly volumeId: string | null
  readonly spec: StoredSpec
  readonly sealed: Uint8Array | null
  readonly facts: MachineFacts
  readonly outputBytes: number
  readonly fence: bigint
  readonly events: bigint
}

const ms = (date: Date | null): number | null => (date === null ? null : date.getTime())

/** A time for a JSON parameter. */
export const instant = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

export const factsOf = (row: FactColumns): MachineFacts => ({
  status: row.status,
  requestedAt: ms(row.requested_at),
  runningAt: ms(row.running_at),
  commandStartedAt: ms(row.command_started_at),
  exit:
    row.command_exited_at === null || row.exit_why === null
      ? null
      : { at: row.command_exited_at.getTime(), code: row.exit_code, why: row.exit_why },
  stopRequestedAt: ms(row.stop_requested_at),
  stoppedAt: ms(row.stopped_at),
  absentSince: ms(row.absent_since),
  failure: row.failure
})

/** Times as a JSON parameter or a JSON column has them. */
export type Texts<T> = {
  readonly [K in keyof T]: T[K] extends Date | null ? string | null : T[K] extends bigint ? number : T[K]
}

/** Facts as columns; the opposite of `factsOf`. */
export const factTexts = (facts: MachineFacts): Texts<FactColumns> => ({
  status: facts.status,
  requested_at: instant(facts.requestedAt),
  running_at: instant(facts.runningAt),
  command_started_at: instant(facts.commandStartedAt),
  command_exited_at: instant(facts.exit?.at ?? null),
  exit_code: facts.exit?.code ?? null,
  exit_why: facts.exit?.why ?? null,
  stop_requested_at: instant(facts.stopRequestedAt),
  stopped_at: instant(facts.stoppedAt),
  absent_since: instant(facts.absentSince),
  failure: facts.failure
})

export const claimedOf = (row: MachineRow): ClaimedMachine => ({
  id: row.id,
  workspaceId: row.workspace_id,
  jobId: row.job_id,
  volumeId: row.volume_id,
  spec: row.spec,
  sealed: row.sealed,
  facts: factsOf(row),
  outputBytes: Number(row.output_bytes),
  fence: row.fence,
  events: row.events
})
