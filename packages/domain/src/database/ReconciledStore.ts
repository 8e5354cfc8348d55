/**
 * What stores of reconciled rows have alike: which rows have ended, how those that are due are claimed, their claims renewed
 * and what a step came to committed, when they wake, and that a machine is to stop.
 */
import { Clock, Effect, type Exit } from "effect"
import { BatchSql, RelaxedSql } from "./Clients.ts"
import * as GroupCommit from "./GroupCommit.ts"
import { Replica } from "./Replica.ts"

type Table = "environments" | "jobs" | "machines" | "videos"

/** The states of a job that has ended; a test holds it to `terminalStatuses`. */
export const ENDED = `('succeeded', 'failed', 'cancelled', 'timed_out')`
/** The states of a machine that is gone; a test holds it to `isGone`. */
export const GONE = `('stopped', 'failed')`

/**
 * $1 replica, $2 until when, $3 now, $4 how many. `due`: as the index of what is due says it, so that it is used; `also`:
 * what else is set. A row that is claimed stays due: whoever finds it when its lease has run out takes it over.
 */
export const claiming = (table: Table, due: string, also = ""): string =>
  `update ${table} set lease_by = $1, lease_until = $2, fence = fence + 1${also}
  where id = any(array(select id from ${table} where ${due} and wake_at <= $3
    and (lease_until is null or lease_until <= $3) order by wake_at, id limit $4 for update skip locked)) returning *`

/** $1 until when, $2 replica, $3 ids. Locked in their order before any is written. */
const renewal = (table: Table): string =>
  `update ${table} set lease_until = $1 where id = any(array(select id from ${table} where lease_by = $2
  and id = any(array(select value::uuid from json_array_elements_text($3::json))) order by id for no key update))`

/** Due at once; a row that is in a step keeps its time and sees by its `events` that it is to look again. */
export const wakeNow = (now: string, row = ""): string =>
  `case when ${row}lease_until > ${now} then ${row}wake_at else least(${row}wake_at, ${now}) end`

/** What is set of a machine that is to stop. */
export const stopAsked = (now: string, row = ""): string =>
  `stop_requested_at = coalesce(${row}stop_requested_at, ${now}), events = ${row}events + 1,
    status = case when ${row}status = 'running' then 'stopping' else ${row}status end, wake_at = ${wakeNow(now, row)}`

export interface Claims<Claimed> {
  /** Takes rows that are due and that nobody has. */
  readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<Claimed>>
  /** Puts off the end of claims of this replica. */
  readonly renew: (ids: ReadonlyArray<string>) => Effect.Effect<void>
}

/**
 * `claim`: a statement made by `claiming`; `more`: its parameters after the fourth. A claim that the database loses is made
 * again, so it waits for no disk.
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

/** Rows of one commit statement at most. */
const MAX_ROWS = 128

/**
 * How steps are committed: those of many rows in one statement. `durable`: it waits for the disk; without it only what can
 * be observed again may be written.
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
      // A lease that ran out while the database was slow: both claims of a row may wait to be committed.
      { name, maxRows: MAX_ROWS, key: options.workspaceOf, alone: options.rowOf },
      (commits: ReadonlyArray<Commit>) => options.flush(sql, commits)
    )
  const durably = yield* queue(options.table, batch)
  const relaxedly = yield* queue(`${options.table}_relaxed`, relaxed)
  return (commit: Commit, durable: boolean): Effect.Effect<Committed> => (durable ? durably : relaxedly).submit(commit)
})
