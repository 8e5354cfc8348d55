/** Stores the anchor of the world's clock in one row, so that restarts and replicas continue from the same moment. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Anchor, anchorFrom } from "./WorldTime.ts"

/**
 * Returns the anchor for `speed`, stored before its first use; undefined means the plain wall clock. A table lock lets
 * processes that start at once agree on one anchor.
 */
export const takeAnchor = (sql: SqlClient.SqlClient, speed: number, realMs: number) =>
  Effect.gen(function* () {
    yield* sql`lock table world_clock in exclusive mode`
    const [row] = yield* sql<{ readonly real_ms: bigint; readonly world_ms: bigint; readonly speed: number }>`
      select real_ms, world_ms, speed from world_clock`
    const known: Anchor | undefined =
      row === undefined ? undefined : { realMs: Number(row.real_ms), worldMs: Number(row.world_ms), speed: row.speed }
    const anchor = anchorFrom(known, speed, realMs)
    if (known !== undefined && known.speed !== speed) {
      yield* Effect.logWarning(
        `The simulated clock's speed changes from ${known.speed} to ${speed} times the wall clock. Replicas ` +
          "of one database need the same --speed: stop every replica that still runs at another speed, because it bills by another time."
      )
    }
    if (anchor !== undefined && anchor !== known) {
      yield* sql`insert into world_clock (id, real_ms, world_ms, speed)
        values (1, ${anchor.realMs}, ${anchor.worldMs}, ${anchor.speed}::float8)
        on conflict (id) do update set real_ms = excluded.real_ms, world_ms = excluded.world_ms, speed = excluded.speed`
    }
    return anchor
  }).pipe(sql.withTransaction)

/**
 * Returns the speed of this database's world; 1 where the world was never faster than the wall clock. Commands that
 * change the world from outside take their timestamps from its clock.
 */
export const worldSpeed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly speed: number }>`select speed from world_clock`
  return rows[0]?.speed ?? 1
})
