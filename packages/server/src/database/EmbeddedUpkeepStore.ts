/**
 * Keeps the statistics, dead rows and write-ahead log of an embedded database in check. PGlite has no autovacuum and no
 * checkpointer: without statistics its planner scans whole tables, dead rows pile up, and the log grows without bound
 * and lengthens recovery after a crash. The upkeep runs every 30 s and is idempotent. It handles one table at a time,
 * because each statement blocks the process.
 */
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"

const PAUSE = Duration.seconds(30)
/** Log bytes since the last checkpoint. Their recovery takes a tenth of a second at a start. */
const LOG_BYTES = 32 * 1024 * 1024

/** Never ends. A failure is logged and retried at the next run, because it costs only speed. */
export const keepTidy: Effect.Effect<never, never, SqlClient.SqlClient> = Effect.suspend(() => tidy).pipe(
  Effect.catchCause((cause) => Effect.logDebug("upkeep of the embedded database", cause)),
  Effect.andThen(Effect.sleep(PAUSE)),
  Effect.forever
)

export const tidy: Effect.Effect<void, unknown, SqlClient.SqlClient> = Effect.suspend(() =>
  Effect.andThen(tidyTables, tidyLog)
)

/**
 * PostgreSQL's own thresholds: 50 rows and a tenth of the table for statistics, a fifth for dead rows. Large values are
 * stored in a separate table (TOAST), which can be full of dead rows while few rows of the main table are dead.
 */
const tidyTables: Effect.Effect<void, unknown, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string; readonly dead: boolean }>`
    select name, dead from (
      select quote_ident(t.relname) as name, t.n_mod_since_analyze > 50 + 0.1 * t.n_live_tup as changed,
        t.n_dead_tup > 50 + 0.2 * t.n_live_tup or coalesce(toast.n_dead_tup > 50 + 0.2 * toast.n_live_tup, false) as dead
      from pg_stat_user_tables t join pg_class c on c.oid = t.relid
      left join pg_stat_all_tables toast on toast.relid = c.reltoastrelid) as found
    where changed or dead order by name limit 100`
  for (const { name, dead } of tables) yield* sql.unsafe(`${dead ? "vacuum (analyze)" : "analyze"} ${name}`)
})

/** Runs after the tables: reading a page for statistics can write it to the log. */
export const tidyLog: Effect.Effect<void, unknown, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [log] = yield* sql<{ readonly due: boolean }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn) > ${LOG_BYTES}::int8 as due from pg_control_checkpoint()`
  if (log?.due === true) yield* sql.unsafe("checkpoint")
})
