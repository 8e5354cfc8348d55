/** A machine's row as the database gives it, and as the reconciler uses it. */
import type { MachineSpec, MachineStatus } from "./Machine.ts"
import type { CommandExit, MachineFacts } from "./MachineLifecycle.ts"

/** What a machine is launched with, beside what can be shown: kept in `machines.spec`. */
export interface StoredSpec extends MachineSpec {
  /** Undefined for a rented machine. */
  readonly command?: string
  /** Variables that are no secret: `SERVICE_*`. */
  readonly variables: Readonly<Record<string, string>>
  readonly maxRuntimeMs?: number
}

export interface MachineRow {
  readonly id: string
  readonly workspace_id: string
  readonly environment_id: string
  readonly job_id: string | null
  readonly name: string
  readonly status: MachineStatus
  readonly spec: StoredSpec
  readonly price: bigint
  readonly volume_id: string | null
  readonly sealed: Uint8Array | null
  readonly requested_at: Date | null
  readonly running_at: Date | null
  readonly command_started_at: Date | null
  readonly command_exited_at: Date | null
  readonly exit_code: number | null
  readonly exit_why: CommandExit["why"] | null
  readonly stop_requested_at: Date | null
  readonly stopped_at: Date | null
  readonly absent_since: Date | null
  readonly failure: string | null
  readonly output_bytes: bigint
  readonly created_at: Date
  readonly fence: bigint
  readonly events: bigint
}

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

/** The columns of a machine's row that hold its facts. */
export type FactColumns = Pick<
  MachineRow,
  | "status"
  | "requested_at"
  | "running_at"
  | "command_started_at"
  | "command_exited_at"
  | "exit_code"
  | "exit_why"
  | "stop_requested_at"
  | "stopped_at"
  | "absent_since"
  | "failure"
>

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
