/**
 * Who keeps statistics, dead rows and the log in check where nobody else does? PGlite has no autovacuum and no checkpointer:
 * without statistics its planner scans whole tables, updated rows pile up, and the log grows for as long as it runs, with
 * what a start after a crash has to do again. Wakes each half minute, takes one table at a time because each statement blocks the
 * process, and may run any number of times.
 */
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"

const PAUSE = Duration.seconds(30)
/** Of the log, since the last checkpoint: a tenth of a second's work at a start. */
const LOG_BYTES = 32 * 1024 * 1024

/** Never ends; a failure is logged and tried again later, as it costs speed and nothing else. */
export const keepTidy: Effect.Effect<never, never, SqlClient.SqlClient> = Effect.suspend(() => tidy).pipe(
  Effect.catchCause((cause) => Effect.logDebug("upkeep of the embedded database", cause)),
  Effect.andThen(Effect.sleep(PAUSE)),
  Effect.forever
)

export const tidy: Effect.Effect<void, unknown, SqlClient.SqlClient> = Effect.suspend(() =>
  Effect.andThen(tidyTables, tidyLog)
)

/**
 * PostgreSQL's own thresholds: 50 rows and a tenth of the table for statistics, a fifth for dead rows. Large values lie in
 * a table beside (TOAST), which can be full of dead pieces while few rows of its owner are.
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

/** After the tables: reading a page for statistics can write it to the log. */
export const tidyLog: Effect.Effect<void, unknown, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [log] = yield* sql<{ readonly due: boolean }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn) > ${LOG_BYTES}::int8 as due from pg_control_checkpoint()`
  if (log?.due === true) yield* sql.unsafe("checkpoint")
})
