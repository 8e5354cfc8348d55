/**
 * SQL that the stores of reconciled rows share: the terminal states, the claim of due rows, the renewal of claims, the
 * group commit of steps, the wake-up of a row, and the stop request of a machine.
 */
import { Clock, Effect, type Exit } from "effect"
import { BatchSql, RelaxedSql } from "./Clients.ts"
import * as GroupCommit from "./GroupCommit.ts"
import { Replica } from "./Replica.ts"

type Table = "environments" | "jobs" | "machines" | "videos"

/** The terminal states of a job; a test compares them with `terminalStatuses`. */
export const ENDED = `('succeeded', 'failed', 'cancelled', 'timed_out')`
/** The terminal states of a machine; a test compares them with `isGone`. */
export const GONE = `('stopped', 'failed')`

/**
 * The statement that claims due rows. Parameters: $1 replica id, $2 end of the lease, $3 now, $4 maximum rows. `due`:
 * the predicate of the partial index of due rows, repeated so that PostgreSQL uses the index. `also`: further
 * assignments. A claimed row stays due, so that the next claim after the end of its lease takes it over.
 */
export const claiming = (table: Table, due: string, also = ""): string =>
  `update ${table} set lease_by = $1, lease_until = $2, fence = fence + 1${also}
  where id = any(array(select id from ${table} where ${due} and wake_at <= $3
    and (lease_until is null or lease_until <= $3) order by wake_at, id limit $4 for update skip locked)) returning *`

/**
 * The statement that renews claims. Parameters: $1 end of the lease, $2 replica id, $3 ids as JSON. The statement locks
 * the rows in the order of their ids before it writes any, so that two renewals cannot deadlock.
 */
const renewal = (table: Table): string =>
  `update ${table} set lease_until = $1 where id = any(array(select id from ${table} where lease_by = $2
  and id = any(array(select value::uuid from json_array_elements_text($3::json))) order by id for no key update))`

/**
 * SQL for the `wake_at` of a row that has new work. A row without a claim is due now. A claimed row keeps its
 * `wake_at`: the step's commit sees by `events` that it must look again.
 */
export const wakeNow = (now: string, row = ""): string =>
  `case when ${row}lease_until > ${now} then ${row}wake_at else least(${row}wake_at, ${now}) end`

/** SQL assignments that request the stop of a machine. */
export const stopAsked = (now: string, row = ""): string =>
  `stop_requested_at = coalesce(${row}stop_requested_at, ${now}), events = ${row}events + 1,
    status = case when ${row}status = 'running' then 'stopping' else ${row}status end, wake_at = ${wakeNow(now, row)}`

export interface Claims<Claimed> {
  /** Claims due rows that have no valid claim. */
  readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<Claimed>>
  /** Extends the leases of claims of this replica. */
  readonly renew: (ids: ReadonlyArray<string>) => Effect.Effect<void>
}

/**
 * Makes the claim and renewal of one table. `claim`: a statement made by `claiming`; `more`: its parameters after the
 * fourth. Both statements use `RelaxedSql`, because a claim that a crash of the database loses is simply made again.
 */
export const makeClaims = Effect.fnUntraced(function* <Row, Claimed>(options: {
  readonly table: Table
  readonly claim: string
  /** Checks the rows that a claim answers. */
  readonly rows: (rows: ReadonlyArray<object>) => ReadonlyArray<Row>
  readonly of: (row: Row) => Claimed
  readonly more?: (now: number) => ReadonlyArray<unknown>
}) {
  const sql = yield* RelaxedSql
  const replica = yield* Replica
  const clock = yield* Clock.Clock
  const renew = renewal(options.table)
  const claims: Claims<Claimed> = {
    claim: (limit) =>
      Effect.suspend(() => {
        const now = clock.currentTimeMillisUnsafe()
        const parameters = [replica.id, new Date(now + replica.leaseMs), new Date(now), limit]
        return sql.unsafe(options.claim, [...parameters, ...(options.more?.(now) ?? [])])
      }).pipe(
        Effect.orDie,
        Effect.map((rows) => options.rows(rows).map(options.of))
      ),
    renew: (ids) =>
      Effect.suspend(() => {
        const until = new Date(clock.currentTimeMillisUnsafe() + replica.leaseMs)
        return sql.unsafe(renew, [until, replica.id, JSON.stringify(ids)])
      }).pipe(Effect.orDie, Effect.asVoid)
  }
  return claims
})

/** Maximum rows of one commit statement. */
const MAX_ROWS = 128

/**
 * Makes the commit of steps: one statement commits the steps of many rows. With `durable` the commit waits for the
 * disk; without it a step may write only facts that can be observed again.
 */
export const makeCommits = Effect.fnUntraced(function* <Commit, Committed>(options: {
  readonly table: Table
  readonly workspaceOf: (commit: Commit) => string
  readonly rowOf: (commit: Commit) => string
  readonly flush: (
    sql: BatchSql["Service"],
    commits: ReadonlyArray<Commit>
  ) => Effect.Effect<ReadonlyArray<Exit.Exit<Committed>>>
}) {
  const batch = yield* BatchSql
  const relaxed = yield* RelaxedSql
  const queue = (name: string, sql: BatchSql["Service"]) =>
    GroupCommit.make(
      // If a lease ended while the database was slow, commits of two claims of one row may be queued: they must not
      // share a statement.
      { name, maxRows: MAX_ROWS, key: options.workspaceOf, alone: options.rowOf },
      (commits: ReadonlyArray<Commit>) => options.flush(sql, commits)
    )
  const durably = yield* queue(options.table, batch)
  const relaxedly = yield* queue(`${options.table}_relaxed`, relaxed)
  return (commit: Commit, durable: boolean): Effect.Effect<Committed> => (durable ? durably : relaxedly).submit(commit)
})
