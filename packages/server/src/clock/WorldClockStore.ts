/** Where is the world's clock anchored? One row in the database, so that restarts and replicas go on from the same moment. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Anchor, anchorFrom } from "./WorldTime.ts"

/**
 * The anchor to go on with at `speed`, stored before it is used; undefined means the plain wall clock. Processes that
 * start at once take turns and agree.
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
        `The world's clock ran ${known.speed} times as fast as the wall's and runs ${speed} times as fast from now on. Replicas ` +
          "of one database need the same --speed: one that still runs at another bills by another time."
      )
    }
    if (anchor !== undefined && anchor !== known) {
      yield* sql`insert into world_clock (id, real_ms, world_ms, speed)
        values (1, ${anchor.realMs}, ${anchor.worldMs}, ${anchor.speed}::float8)
        on conflict (id) do update set real_ms = excluded.real_ms, world_ms = excluded.world_ms, speed = excluded.speed`
    }
    return anchor
  }).pipe(sql.withTransaction)

/** At what speed the world of this database runs; 1 where none was ever faster than the wall clock. What is done to it from outside is dated by its clock. */
export const worldSpeed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly speed: number }>`select speed from world_clock`
  return rows[0]?.speed ?? 1
})
