/**
 * The rows of machines, for the reconciler: claim, renew, commit. The only SQL that writes a machine's facts.
 *
 * A commit is guarded by the claim (replica and fence): a claim that was lost commits nothing. In the same
 * statement it claims the machine's job for the same replica and detaches its volume. Locks as ARCHITECTURE.md says (Lock order).
 */
import { Clock, Context, Effect, Exit, Layer, Schema } from "effect"
import { type BatchSql, RelaxedSql } from "../database/Clients.ts"
import { type Claims, claiming, GONE, makeClaims, makeCommits } from "../database/ReconciledStore.ts"
import { Replica } from "../database/Replica.ts"
import { rowsOf } from "../database/RowDecoder.ts"
import type { OwnerRow } from "./MachineOwner.ts"
import { COMMIT_MACHINES, COMMIT_MACHINES_ALONE } from "./MachineCommit.sql.ts"
import { isGone, type MachineFacts } from "./MachineLifecycle.ts"
import { type ClaimedMachine, claimedOf, factTexts, instant, MachineRow } from "./MachineRow.ts"

export interface MachineCommit {
  readonly machine: ClaimedMachine
  readonly facts: MachineFacts
  /** True to keep the claim for a further step; otherwise the row is released and wakes at `wakeAt`. */
  readonly keep: boolean
  readonly wakeAt: number
  /** True if the change concerns the job. */
  readonly wakeJob: boolean
  /** Bytes that the stopped machine saved to its volume. */
  readonly volumeBytes: number | null
}

/** `committed` false: the claim was lost and nothing was written. `wakeAt` is earlier if an event came meanwhile. */
export interface Committed {
  readonly committed: boolean
  readonly wakeAt: number
  /** The row of the owning job if this commit claimed it; undefined if the job is in a step and was only notified. */
  readonly owner: OwnerRow | undefined
}

/** $1 now, $2 the limit. The longest waits come first. A row in a step polls by itself. */
const WAKE_WAITING = `update machines
set wake_at = $1
where id = any(array(
  select id
  from machines
  where status = 'wanted'
    and requested_at is null
    and stop_requested_at is null
    and wake_at > $1
    and (lease_until is null or lease_until <= $1)
  order by created_at
  limit $2
  for update skip locked
))
returning id`

const claimedRows = rowsOf("MachineStore", MachineRow)
/** With the columns of the machine's job, where that was claimed: its owner checks them. */
const writtenRows = rowsOf(
  "MachineStore",
  Schema.Struct({ written: Schema.String, written_wake_at: Schema.Date, id: Schema.NullOr(Schema.String) })
)

const inputOf = (commit: MachineCommit) => {
  const { machine, facts } = commit
  return {
    id: machine.id,
    fence: machine.fence.toString(),
    events: machine.events.toString(),
    job_id: machine.jobId,
    keep: commit.keep,
    wake_job: commit.wakeJob && machine.jobId !== null,
    wake_at: instant(commit.wakeAt),
    ...factTexts(facts),
    volume_bytes: commit.volumeBytes
  }
}

const concernsOthers = ({ facts, machine, wakeJob }: MachineCommit): boolean =>
  (wakeJob && machine.jobId !== null) || isGone(facts)

export class MachineStore extends Context.Service<
  MachineStore,
  Claims<ClaimedMachine> & {
    /** Makes up to `limit` of the machines due that wait for capacity; answers how many. */
    readonly wakeWaiting: (limit: number) => Effect.Effect<number>
    /** `durable`: the commit waits for the disk; without it only facts may be written that can be observed again. */
    readonly commit: (commit: MachineCommit, durable: boolean) => Effect.Effect<Committed>
  }
>()("@sluice/domain/machines/MachineStore") {
  static readonly layer = Layer.effect(
    MachineStore,
    Effect.gen(function* () {
      const relaxed = yield* RelaxedSql
      const replica = yield* Replica
      const clock = yield* Clock.Clock

      const flush = (sql: BatchSql["Service"], commits: ReadonlyArray<MachineCommit>) => {
        const at = clock.currentTimeMillisUnsafe()
        const alone = [JSON.stringify(commits.map(inputOf)), replica.id, new Date(at)]
        const told = commits.some(concernsOthers)
        return sql
          .unsafe(
            told ? COMMIT_MACHINES : COMMIT_MACHINES_ALONE,
            told ? [...alone, new Date(at + replica.leaseMs)] : alone
          )
          .pipe(
            Effect.orDie,
            Effect.map((rows) => {
              const written = new Map(writtenRows(rows).map((row) => [row.written, row]))
              return commits.map((commit) => {
                const row = written.get(commit.machine.id)
                return Exit.succeed<Committed>({
                  committed: row !== undefined,
                  wakeAt: row?.written_wake_at.getTime() ?? commit.wakeAt,
                  owner: row === undefined || row.id === null ? undefined : { ...row, id: row.id }
                })
              })
            })
          )
      }
      const commit = yield* makeCommits({
        table: "machines",
        workspaceOf: ({ machine }: MachineCommit) => machine.workspaceId,
        rowOf: ({ machine }) => machine.id,
        flush
      })

      const claims = yield* makeClaims({
        table: "machines",
        claim: claiming("machines", `status not in ${GONE}`),
        rows: claimedRows,
        of: claimedOf
      })

      const wakeWaiting = Effect.fnUntraced(function* (limit: number) {
        const now = new Date(clock.currentTimeMillisUnsafe())
        return (yield* relaxed.unsafe(WAKE_WAITING, [now, limit])).length
      }, Effect.orDie)

      return MachineStore.of({ ...claims, wakeWaiting, commit })
    })
  )
}
