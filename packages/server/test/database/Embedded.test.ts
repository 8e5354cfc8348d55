/** Properties of one store alone: clean-up of the bridge, maintenance, directories, concurrent starts, plain errors. */
import { expect, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { worldTables } from "@sluice/simulator/world/WorldMigrations"
import { Effect, Exit, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openEmbedded, openEmpty, overPglite, postgres } from "../../src/database/Database.ts"
import { tidy, tidyLog } from "../../src/database/EmbeddedUpkeepStore.ts"
import { onPglite, onPostgres } from "@sluice/testing/engines/Databases"
import { freshDatabase } from "@sluice/testing/engines/Postgres"

const pglite = Effect.acquireRelease(
  Effect.promise(() => openEmpty()),
  (db) => Effect.promise(() => db.close())
)

it.live("a closed wire rolls back and closes its prepared statements", () =>
  Effect.gen(function* () {
    const db = yield* pglite
    const left = Effect.promise(() => db.query<{ n: number }>("select count(*)::int as n from pg_prepared_statements"))
    const lost = Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* Effect.forEach([1, 2, 3, 4], () => sql`select pg_sleep(0.01)`, { concurrency: 4, discard: true })
      expect((yield* left).rows[0]!.n).toBeGreaterThan(0)
      return yield* sql.withTransaction(
        sql`create table never (id int)`.pipe(Effect.andThen(Effect.die("the wire ends here")))
      )
    }).pipe(Effect.provide(overPglite(db)), Effect.exit)
    expect(Exit.isFailure(yield* lost)).toBe(true)
    yield* Effect.sleep("50 millis")
    expect((yield* left).rows[0]!.n).toBe(0)
    const found = yield* Effect.promise(() => db.query("select to_regclass('never') as never"))
    expect(found.rows).toEqual([{ never: null }])
  })
)

it.live("a long queue of queries leaves turns of the event loop to timers", () =>
  Effect.gen(function* () {
    const db = yield* pglite
    const turns = yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      let turns = 0
      const timer = setInterval(() => turns++, 1)
      yield* Effect.forEach(Array.from({ length: 3000 }), () => sql`select 1`, { concurrency: 8, discard: true })
      clearInterval(timer)
      return turns
    }).pipe(Effect.provide(overPglite(db)))
    // Without a yield the count is 0. A busy machine gives few ticks, so the bound is low.
    expect(turns).toBeGreaterThanOrEqual(3)
  })
)

it.live("a directory keeps its data and admits one process at a time", () =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-data-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    const sql = SqlClient.SqlClient
    const write = Effect.flatMap(sql, (sql) => sql`insert into master_keys (id, since) values ('kept', ${new Date(0)})`)
    const read = Effect.flatMap(sql, (sql) => sql`select id from master_keys`)
    const open = Layer.fresh(openEmbedded(directory))
    const second = Effect.flip(Effect.provide(Effect.void, Layer.fresh(openEmbedded(directory))))
    yield* Effect.provide(
      Effect.gen(function* () {
        yield* write
        expect(yield* second).toMatchObject({ _tag: "DataDirectoryInUse", pid: process.pid })
      }),
      open
    )
    expect(yield* Effect.provide(read, open)).toEqual([{ id: "kept" }])
  })
)

it.live("a new directory starts small and with the newest schema, with additional tables included", () =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-data-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    const found = yield* Effect.provide(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql`select to_regclass('sim_machines') is not null as world, to_regclass('jobs') is not null as jobs,
          (select count(*) from server_migrations)::int4 as steps, (select count(*) from pg_database)::int4 as databases,
          current_setting('plan_cache_mode') as plans, current_setting('shared_buffers') as cache`
      }),
      openEmbedded(directory, worldTables)
    )
    expect(found).toEqual([
      { world: true, jobs: true, steps: 1, databases: 1, plans: "force_generic_plan", cache: "32MB" }
    ])
    const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const bytes = files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0)
    expect(bytes).toBeLessThan(20_000_000)
  })
)

it.live("the error for an unreachable database names it without its password", () =>
  Effect.gen(function* () {
    for (const url of [
      "postgres://me:hushhush@127.0.0.1:1/shop",
      "postgres://me:hushhush@nowhere.invalid/shop",
      "hushhush"
    ]) {
      const error = yield* Effect.flip(Effect.provide(Effect.void, postgres({ url: Redacted.make(url) })))
      expect(error._tag).toBe("DatabaseUnreachable")
      expect(JSON.stringify(error) + error.message).not.toContain("hushhush")
    }
  })
)

onPglite(
  "upkeep",
  (it) => {
    it.effect("maintenance gathers statistics and frees dead rows where there is work", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into master_keys select g::text, ${new Date(0)}::timestamptz from generate_series(1, 500) g`
        for (const at of [1, 2, 3]) yield* sql`update master_keys set since = ${new Date(at)}`
        yield* Effect.sleep("1100 millis")
        yield* sql`select count(*) from master_keys`
        yield* tidy
        const [table] = yield* sql`select reltuples::int4 as rows from pg_class where relname = 'master_keys'`
        expect(table).toEqual({ rows: 500 })
      })
    )

    it.effect("maintenance frees the space of large values, even of few rows", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`create table pictures (id int, bytes bytea)`
        yield* sql`alter table pictures alter bytes set storage external`
        yield* sql`insert into pictures select g, null from generate_series(1, 2000) g`
        const [picture, none] = [new Uint8Array(1_000_000), null]
        const size = Effect.map(
          sql<{ readonly bytes: bigint }>`select pg_table_size('pictures')::int8 as bytes`,
          ([table]) => Number(table?.bytes)
        )
        for (let id = 1; id <= 5; id++) {
          yield* sql`update pictures set bytes = ${picture} where id = ${id}`
          yield* sql`update pictures set bytes = ${none} where id = ${id}`
          // PostgreSQL publishes counted rows once a second at most.
          yield* Effect.sleep("1100 millis")
          yield* sql`select count(*) from pictures`
          yield* tidy
        }
        expect(yield* size).toBeLessThan(3_500_000)
        yield* sql`drop table pictures`
      })
    )

    it.effect("maintenance bounds the size of the write-ahead log", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const logBytes = Effect.map(
          sql<{ readonly bytes: bigint }>`select sum(size)::int8 as bytes from pg_ls_waldir()`,
          ([log]) => Number(log?.bytes)
        )
        yield* sql`create table filler (text text)`
        const write = sql`insert into filler select repeat('x', 500) from generate_series(1, 20000)`
        yield* Effect.repeat(write, { times: 3 })
        const grown = yield* logBytes
        expect(grown).toBeGreaterThan(32 * 1024 * 1024)
        yield* tidy
        expect(yield* logBytes).toBeLessThan(4 * 1024 * 1024)
        // A small log is left alone: each checkpoint waits for the disk. (Statistics would write pages to the log too.)
        yield* write
        const small = yield* logBytes
        yield* tidyLog
        expect(yield* logBytes).toBeGreaterThanOrEqual(small)
        yield* sql`drop table filler`
      })
    )
  },
  { live: true }
)

onPostgres(
  "starting",
  (it) => {
    it.effect("several replicas that start at once migrate an empty database exactly once", () =>
      Effect.gen(function* () {
        const url = Redacted.make(yield* freshDatabase)
        const replica = Effect.provide(
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select migration_id from server_migrations`),
          Layer.fresh(postgres({ url }))
        )
        const seen = yield* Effect.all([replica, replica, replica, replica], { concurrency: 4 })
        expect(seen).toEqual(Array.from({ length: 4 }, () => [{ migration_id: 1 }]))
      })
    )
  },
  { live: true }
)
