/**
 * Runs one suite on both stores: PGlite in memory and PostgreSQL. Both are migrated, and every test starts on empty tables.
 *
 *   onEveryDatabase("JobStore", (it) => {
 *     it.effect("saves", () => Effect.gen(function* () { const sql = yield* SqlClient.SqlClient; ... }))
 *     it.layer(JobStore.layer)("with a store", (it) => it.effect(...))
 *   })
 *
 * Tests run under TestClock: `yield* TestClock.setTime(...)`, `TestClock.adjust(...)`; queries and pools don't hang on it.
 * TestClock doesn't wait for a query, so call a `tick` instead of waiting for a background loop.
 * Where PostgreSQL can't be had its suites are skipped by name; with CI=true that is a failure.
 */
import type { PGlite } from "@electric-sql/pglite"
import type { PgClient } from "@effect/sql-pg"
import { beforeEach, it as plainIt, layer, type Vitest } from "@effect/vitest"
import type { BatchSql, RelaxedSql } from "@sluice/domain/database/Clients"
import { inMemory, openEmpty, overPglite, postgres } from "@sluice/server/database/Database"
import { Clock, Effect, Layer, Redacted } from "effect"
import type { Context } from "effect"
import { SqlClient } from "effect/sql"
import { describeWith } from "./Engines.ts"
import { describePostgres, freshDatabase } from "./Postgres.ts"

export type DatabaseClients = PgClient.PgClient | SqlClient.SqlClient | BatchSql | RelaxedSql
export type DatabaseSuite = (it: Vitest.MethodsNonLive<DatabaseClients>) => void

export interface DatabaseOptions {
  /** Real time instead of TestClock, for what waits on two connections at once. */
  readonly live?: boolean
}

/** Registers the suite once for each store. */
export const onEveryDatabase = (name: string, suite: DatabaseSuite, options: DatabaseOptions = {}): void => {
  onPglite(name, suite, options)
  onPostgres(name, suite, options)
}

export const onPglite = (name: string, suite: DatabaseSuite, options: DatabaseOptions = {}): void =>
  emptied(`${name} on PGlite`, pgliteLayer, suite, options)

/** Alone for contention: connections of a PGlite share one backend and never wait for each other. */
export const onPostgres = (name: string, suite: DatabaseSuite, options: DatabaseOptions = {}): void => {
  const absent = describePostgres()
  if (absent === undefined) return emptied(`${name} on PostgreSQL`, postgresLayer, suite, options)
  describeWith("postgresql", absent, `${name} on PostgreSQL`, () =>
    suite(plainIt as unknown as Vitest.MethodsNonLive<DatabaseClients>)
  )
}

/** Pools and upkeep of a store run in real time also under TestClock. */
const realTime = Layer.succeed(Clock.Clock, Clock.Clock.defaultValue())

/** The one PGlite of this test process: making one takes seconds, emptying one takes milliseconds. */
const pgliteLayer: Layer.Layer<DatabaseClients> = Layer.unwrap(
  Effect.promise(() => (sharedPglite ??= openEmpty())).pipe(Effect.map(overPglite))
).pipe(Layer.provide(realTime), Layer.orDie)
let sharedPglite: Promise<PGlite> | undefined

/** A database of its own in the test PostgreSQL. A clock that jumps must not end a connect: no limit. */
const postgresLayer: Layer.Layer<DatabaseClients> = Layer.unwrap(
  freshDatabase.pipe(Effect.map((url) => postgres({ url: Redacted.make(url), speed: Number.POSITIVE_INFINITY })))
).pipe(Layer.provide(realTime), Layer.orDie)

const emptied = (
  title: string,
  clients: Layer.Layer<DatabaseClients>,
  suite: DatabaseSuite,
  options: DatabaseOptions
): void => {
  let open: Context.Context<DatabaseClients> | undefined
  const kept = Layer.tap(clients, (context) => Effect.sync(() => (open = context)))
  layer(kept, { timeout: "5 minutes", excludeTestServices: options.live ?? false })(title, (it) => {
    beforeEach(() => (open === undefined ? undefined : Effect.runPromise(empty.pipe(Effect.provide(open)))))
    suite(it)
  })
}

const empty = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    select quote_ident(tablename) as name from pg_tables
    where schemaname = 'public' and tablename not like '%migrations' order by tablename`
  yield* sql.unsafe(`truncate ${tables.map((table) => table.name).join(", ")} restart identity cascade`)
})

/** A PGlite of its own, for suites that close or break it. */
export const ownPglite: Layer.Layer<DatabaseClients> = inMemory.pipe(Layer.provide(realTime), Layer.orDie)
