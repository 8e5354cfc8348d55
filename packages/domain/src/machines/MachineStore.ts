/**
 * The rows of machines, for the reconciler: claim, renew, commit. The only SQL that writes a machine's facts.
 *
 * A commit is guarded by the claim (replica and fence): a claim that was lost commits nothing. It claims the machine's
 * job for the same replica and gives its volume back in the same statement. Locks as ARCHITECTURE.md says (Lock order).
 */
import { Clock, Context, Effect, Exit, Layer } from "effect"
import { type BatchSql, RelaxedSql } from "../database/Clients.ts"
import { type Claims, claiming, ENDED, GONE, makeClaims, makeCommits } from "../database/ReconciledStore.ts"
import { Replica } from "../database/Replica.ts"
import type { OwnerRow } from "./MachineOwner.ts"
import { isGone, type MachineFacts } from "./MachineLifecycle.ts"
import { type ClaimedMachine, claimedOf, factTexts, instant } from "./MachineRow.ts"

export interface MachineCommit {
  readonly machine: ClaimedMachine
  readonly facts: MachineFacts
  /** Keep the claim for a further step; otherwise the row is given back, to wake at `wakeAt`. */
  readonly keep: boolean
  readonly wakeAt: number
  /** The job is to look at what changed. */
  readonly wakeJob: boolean
  /** Bytes that the stopped machine saved to its volume. */
  readonly volumeBytes: number | null
}

/** `committed` false: the claim was lost and nothing was written. `wakeAt` is earlier where an event came meanwhile. */
export interface Committed {
  readonly committed: boolean
  readonly wakeAt: number
  /** The row of the job that is to look, where this commit could claim it; a job that is in a step was told only. */
  readonly owner: OwnerRow | undefined
}

const INPUT = `with input as materialized (select * from json_to_recordset($1::json) as r(id uuid, fence int8, events int8, job_id uuid,
    keep boolean, wake_job boolean, wake_at timestamptz, status text, requested_at timestamptz, running_at timestamptz,
    command_started_at timestamptz, command_exited_at timestamptz, exit_code int4, exit_why text, stop_requested_at timestamptz,
    stopped_at timestamptz, absent_since timestamptz, failure text, volume_bytes int8))`

/** Locked in their order before any is written: an update takes its rows as they come. */
const mine = (when: string) => `mine as materialized (select id from machines
    where id = any(array(select id from input)) and ${when} order by id for no key update)`

/** $2 replica, $3 now. A claim that was lost writes nothing. */
const WRITE = `update machines m set status = i.status, requested_at = i.requested_at, running_at = i.running_at,
      command_started_at = i.command_started_at, command_exited_at = i.command_exited_at, exit_code = i.exit_code,
      exit_why = i.exit_why, stop_requested_at = coalesce(m.stop_requested_at, i.stop_requested_at), stopped_at = i.stopped_at,
      absent_since = i.absent_since, failure = i.failure,
      lease_by = case when i.keep then m.lease_by end, lease_until = case when i.keep then m.lease_until end,
      wake_at = case when i.keep then m.wake_at when m.events <> i.events then $3::timestamptz else i.wake_at end
    from input i where m.id = i.id and m.id = any(array(select id from mine)) and m.lease_by = $2 and m.fence = i.fence`

/** For machines of which neither a job nor a volume has to learn. */
const COMMIT_ALONE = `${INPUT}, ${mine("true")} ${WRITE} returning m.id as written, m.wake_at as written_wake_at, null as id`

const COMMIT = `${INPUT}, owners as materialized (select j.id, j.lease_until is null or j.lease_until <= $3::timestamptz as free from jobs j
    where j.id = any(array(select job_id from input where wake_job))
    and j.status not in ${ENDED} order by j.id for update
  ), ${mine("(select count(*) from owners) >= 0")}, written as (${WRITE}
    returning m.id, m.events, m.wake_at
  ), told as (update jobs j set events = j.events + 1, fence = j.fence + case when o.free then 1 else 0 end,
      lease_by = case when o.free then $2 else j.lease_by end, lease_until = case when o.free then $4::timestamptz else j.lease_until end,
      wake_at = case when o.free then $3::timestamptz else j.wake_at end
    from input i join written w on w.id = i.id join owners o on o.id = i.job_id where j.id = o.id and j.id = any(array(select id from owners))
    returning j.*, o.free as claimed, i.id as told_by
  ), detached as (update volumes v set attached_to = null, used_bytes = coalesce(i.volume_bytes, v.used_bytes)
    from input i join written w on w.id = i.id where v.attached_to = i.id and i.status in ${GONE})
  select w.id as written, w.wake_at as written_wake_at, t.*,
    (select h.amount from holds h where h.id = t.id and h.state = 'open') as hold
  from written w left join told t on t.told_by = w.id and t.claimed`

/** Those that wait longest come first; a row that is in a step looks for itself. */
const WAKE_WAITING = `update machines set wake_at = $1 where id = any(array(select id from machines where status = 'wanted'
    and requested_at is null and stop_requested_at is null and wake_at > $1 and (lease_until is null or lease_until <= $1)
  order by created_at limit $2 for update skip locked)) returning id`

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
          .unsafe<OwnerRow & { readonly written: string; readonly written_wake_at: Date }>(
            told ? COMMIT : COMMIT_ALONE,
            told ? [...alone, new Date(at + replica.leaseMs)] : alone
          )
          .pipe(
            Effect.orDie,
            Effect.map((rows) => {
              const written = new Map(rows.map((row) => [row.written, row]))
              return commits.map((commit) => {
                const row = written.get(commit.machine.id)
                return Exit.succeed<Committed>({
                  committed: row !== undefined,
                  wakeAt: row?.written_wake_at.getTime() ?? commit.wakeAt,
                  owner: row === undefined || row.id === null ? undefined : row
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
