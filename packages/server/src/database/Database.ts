/**
 * Which database is this? The only place that knows: an embedded PGlite (a directory, or memory for tests) or PostgreSQL.
 * Everything else asks for `SqlClient`, `PgClient`, `BatchSql` or `RelaxedSql`, and finds the newest schema.
 *
 * The embedded one holds the directory's lock as long as it is open, so two processes never write one directory.
 * Build these layers under the machine's own clock: pools and upkeep run in real time, whatever the world's speed.
 */
import type { PGlite } from "@electric-sql/pglite"
import * as PgClient from "@effect/sql-pg/PgClient"
import { BatchSql, RelaxedSql } from "@sluice/domain/database/Clients"
import { migrate } from "@sluice/domain/database/Migrations"
import type { Redacted } from "effect"
import { Context, Duration, Effect, Layer } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import { join } from "node:path"
import { addressOf } from "./DatabaseAddress.ts"
import { DatabaseUnreachable, DataDirectoryBroken, DataDirectoryUnusable, MigrationFailed } from "./DatabaseErrors.ts"
import type { DatabaseFailure } from "./DatabaseErrors.ts"
import { DatabaseLoss, Loss } from "./DatabaseLoss.ts"
import { reasonOf } from "./DatabaseRefusal.ts"
import { lockDataDirectory } from "./DataLock.ts"
import { disableStatementCache } from "./StatementCacheOff.ts"
import { isFile, makeDirectory } from "./Directory.ts"
import { type Image, type Opened, openDirectory, openMemory } from "./EmbeddedFiles.ts"
import { keepTidy } from "./EmbeddedUpkeepStore.ts"
import { makePgliteClient } from "./PgliteClient.ts"
import { makePgliteStream, type Watch } from "./PgliteStream.ts"
import { type MoreTables, schemaImage } from "./Schema.ts"
import { migrateServer } from "./ServerMigrations.ts"
import { watchedSockets } from "./WatchedSockets.ts"

export type DatabaseClients = PgClient.PgClient | SqlClient.SqlClient | BatchSql | RelaxedSql

/** The embedded database in `directory/pg`; made when missing, then with `more` tables. */
export const embedded = (
  directory: string,
  ...more: ReadonlyArray<MoreTables>
): Layer.Layer<DatabaseClients, Exclude<DatabaseFailure, DatabaseUnreachable>> =>
  fromPglite((loss) =>
    Effect.gen(function* () {
      const unusable = (cause: unknown) =>
        new DataDirectoryUnusable({ directory, reason: isFile(directory) ? "it is a file" : reasonOf(cause) })
      const broken = (cause: unknown) => new DataDirectoryBroken({ directory, reason: reasonOf(cause) })
      yield* Effect.try({ try: () => makeDirectory(directory), catch: unusable })
      const lock = yield* lockDataDirectory(directory)
      const path = join(directory, "pg")
      const database = yield* Effect.mapError(
        opened(() => openDirectory(path, schema(more), PLANNING), loss),
        broken
      )
      return { ...database, isOurs: lock.isHeld }
    })
  )

/** A PGlite in memory with the newest schema, that of `more` included, and no row, for who closes it himself. */
export const openEmpty = async (...more: ReadonlyArray<MoreTables>): Promise<PGlite> =>
  (await openMemory(schema(more), PLANNING)).db

const schema = (more: ReadonlyArray<MoreTables>): Image =>
  schemaImage(more, (db) => {
    const all = Effect.forEach(more, ({ migrate }) => migrate, { discard: true })
    const clients = overPglite(db)
    return Effect.runPromise(Effect.provide(all, clients))
  })

/** An embedded database that is gone with its scope. */
export const inMemory: Layer.Layer<DatabaseClients, MigrationFailed> = fromPglite((loss) =>
  Effect.orDie(opened(() => openMemory(schema([]), PLANNING), loss))
)

/** A PGlite that is open already and stays open (one for many test suites). */
export const overPglite = (db: PGlite): Layer.Layer<DatabaseClients, MigrationFailed> =>
  fromPglite(() => Effect.succeed({ db, isNewest: false }))

export interface PostgresOptions {
  readonly url: Redacted.Redacted
  /** How much faster than the wall clock the service's clock runs; waits are measured on that clock. Default 1. */
  readonly speed?: number
}

/** PostgreSQL: a pool for requests, a small one for batches, a small one whose commits do not wait for the disk. */
export const postgres = (
  options: PostgresOptions
): Layer.Layer<DatabaseClients, DatabaseUnreachable | MigrationFailed> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const address = addressOf(options.url)
      const stream = yield* watchedSockets(options.url)
      const unreachable = Effect.mapError(
        (error: SqlError.SqlError) => new DatabaseUnreachable({ address, reason: reasonOf(error) })
      )
      const pool = (maxConnections: number, startupParameters: Record<string, string>, isWatched = true) =>
        PgClient.make({
          url: options.url,
          stream: isWatched ? stream : undefined,
          applicationName: "sluice",
          maxConnections,
          connectTimeout: Duration.times(CONNECT_TIMEOUT, options.speed ?? 1),
          idleTimeout: IDLE_TIMEOUT,
          connectionTTL: LIFE,
          startupParameters: { ...ISOLATION, ...startupParameters }
        }).pipe(Effect.map(disableStatementCache))
      const clients = yield* Effect.all({
        main: pool(10, {}),
        batch: pool(4, PLANNING),
        relaxed: pool(4, { ...PLANNING, synchronous_commit: "off" })
      }).pipe(
        Effect.tap((clients) => clients.main`select 1`),
        unreachable
      )
      // A step of a migration may take minutes on a large table, and another replica waits for it.
      yield* Effect.scoped(Effect.flatMap(unreachable(pool(1, {}, false)), migrated))
      return contextOf(clients.main, clients.batch, clients.relaxed)
    })
  ).pipe(Layer.provide(Reactivity.layer))

/** Statements count on seeing, once they have a lock, what was committed while they waited for it. */
const ISOLATION = { default_transaction_isolation: "read committed" }
/**
 * How batched statements are planned: once, and by index. They are large, so planning each call would cost more than running
 * it; and a plan that is made while tables are still empty would scan them for as long as it is kept.
 */
const PLANNING = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off"
}
const CONNECT_TIMEOUT = Duration.seconds(10)
const IDLE_TIMEOUT = Duration.minutes(5)
/** Longer, and none is used again: what was true when it was opened (a standby, read-only by default) may not be any more. */
const LIFE = Duration.minutes(1)
/** Wires are cheap, and all share one backend. */
const EMBEDDED_CONNECTIONS = 8

interface Embedded extends Opened {
  /** False: another process writes its files. */
  readonly isOurs?: () => boolean
}

function fromPglite<E, R>(open: (loss: Loss) => Effect.Effect<Embedded, E, R>) {
  return Layer.effectContext(
    Effect.gen(function* () {
      const loss = new Loss()
      const { db, isNewest, isOurs } = yield* open(loss)
      const watch: Watch = {
        lost: () => (isOurs?.() === false ? loss.tell(TAKEN_OVER) : loss.error),
        died: (lastWords) => void loss.tell(lastWords)
      }
      const wires = yield* Effect.acquireRelease(
        Effect.sync(() => makePgliteStream(db, watch)),
        ({ stop }) => Effect.promise(stop)
      )
      const client = yield* makePgliteClient(wires.stream, EMBEDDED_CONNECTIONS)
      if (!isNewest) yield* migrated(client)
      yield* keepTidy.pipe(Effect.provideService(SqlClient.SqlClient, client), Effect.forkScoped)
      return Context.add(contextOf(client, client, client), DatabaseLoss, loss.told)
    })
  ).pipe(Layer.provide(Reactivity.layer))
}

/** One that is lost is left as it is: closing it writes. */
function opened(open: () => Promise<Opened>, loss: Loss) {
  return Effect.acquireRelease(Effect.tryPromise(open), ({ db }) =>
    loss.error === undefined ? Effect.promise(() => db.close()) : Effect.void
  )
}

const TAKEN_OVER = "this process stood still for so long that another one took over its data directory"

const contextOf = (main: PgClient.PgClient, batch: PgClient.PgClient, relaxed: PgClient.PgClient) =>
  Context.make(PgClient.PgClient, main).pipe(
    Context.add(SqlClient.SqlClient, main),
    Context.add(BatchSql, batch),
    Context.add(RelaxedSql, relaxed)
  )

/** Replicas may start at once: the migrator locks its table, the second one waits and finds nothing left to do. */
const migrated = (client: PgClient.PgClient) =>
  migrate.pipe(
    Effect.andThen(migrateServer),
    Effect.provideService(SqlClient.SqlClient, client),
    Effect.mapError((error) => new MigrationFailed({ reason: reasonOf(error) }))
  )
