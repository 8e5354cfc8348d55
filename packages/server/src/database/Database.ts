/**
 * Opens the database: an embedded PGlite (in a directory, or in memory for tests) or PostgreSQL. Only this module knows
 * which. Other code requires `SqlClient`, `PgClient`, `BatchSql` or `RelaxedSql`, and finds the newest schema.
 *
 * An embedded database holds the directory's lock while it is open, so two processes never write to one directory.
 * Build these layers under the host's own clock: pools and upkeep run in real time, whatever the speed of the service's
 * clock.
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

/** The embedded database in `directory/pg`. A missing database is created, with the tables of `more`. */
export const openEmbedded = (
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
        acquire(() => openDirectory(path, schema(more), PLANNING), loss),
        broken
      )
      return { ...database, isOurs: lock.isHeld }
    })
  )

/**
 * Opens a PGlite in memory with the newest schema, the tables of `more` included, and no rows. The caller closes it.
 */
export const openEmpty = async (...more: ReadonlyArray<MoreTables>): Promise<PGlite> =>
  (await openMemory(schema(more), PLANNING)).db

const schema = (more: ReadonlyArray<MoreTables>): Image =>
  schemaImage(more, (db) => {
    const all = Effect.forEach(more, ({ migrate }) => migrate, { discard: true })
    const clients = overPglite(db)
    return Effect.runPromise(Effect.provide(all, clients))
  })

/** An embedded database in memory that ends with its scope. */
export const inMemory: Layer.Layer<DatabaseClients, MigrationFailed> = fromPglite((loss) =>
  Effect.orDie(acquire(() => openMemory(schema([]), PLANNING), loss))
)

/** Uses a PGlite that is open already and does not close it: one database serves many test suites. */
export const overPglite = (db: PGlite): Layer.Layer<DatabaseClients, MigrationFailed> =>
  fromPglite(() => Effect.succeed({ db, isNewest: false }))

export interface PostgresOptions {
  readonly url: Redacted.Redacted
  /**
   * Factor by which the service's clock runs faster than the wall clock; timeouts are measured on that clock. Default
   * 1.
   */
  readonly speed?: number
}

/**
 * PostgreSQL with three pools: for requests, for batches, and for statements whose commit does not wait for the disk.
 */
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
          connectionTTL: CONNECTION_TTL,
          startupParameters: { ...ISOLATION, ...startupParameters }
        }).pipe(Effect.flatMap(disableStatementCache))
      const clients = yield* Effect.all({
        main: pool(10, {}),
        batch: pool(4, PLANNING),
        relaxed: pool(4, { ...PLANNING, synchronous_commit: "off" })
      }).pipe(
        Effect.tap((clients) => clients.main`select 1`),
        unreachable
      )
      // Not watched: a migration step may take minutes on a large table, and other replicas wait for it.
      yield* Effect.scoped(Effect.flatMap(unreachable(pool(1, {}, false)), runMigrations))
      return contextOf(clients.main, clients.batch, clients.relaxed)
    })
  ).pipe(Layer.provide(Reactivity.layer))

/** After waiting for a lock, statements must see the rows that were committed during the wait. */
const ISOLATION = { default_transaction_isolation: "read committed" }
/**
 * Planner settings of batched statements: one generic plan, by index. The statements are large, so planning each call
 * would cost more than running it. A plan made while the tables are empty would otherwise scan them for as long as it
 * is cached.
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
/**
 * Lifetime of a connection. A longer one would keep a connection to a server whose role has changed, such as a primary
 * that became a standby.
 */
const CONNECTION_TTL = Duration.minutes(1)
/** A wire costs little, and all wires share one backend. */
const EMBEDDED_CONNECTIONS = 8

interface Embedded extends Opened {
  /** Returns false once another process writes the database's files. */
  readonly isOurs?: () => boolean
}

function fromPglite<E, R>(open: (loss: Loss) => Effect.Effect<Embedded, E, R>) {
  return Layer.effectContext(
    Effect.gen(function* () {
      const loss = new Loss()
      const { db, isNewest, isOurs } = yield* open(loss)
      const watch: Watch = {
        lost: () => (isOurs?.() === false ? loss.declare(TAKEN_OVER) : loss.error),
        died: (lastWords) => void loss.declare(lastWords)
      }
      const wires = yield* Effect.acquireRelease(
        Effect.sync(() => makePgliteStream(db, watch)),
        ({ stop }) => Effect.promise(stop)
      )
      const client = yield* makePgliteClient(wires.stream, EMBEDDED_CONNECTIONS)
      if (!isNewest) yield* runMigrations(client)
      yield* keepTidy.pipe(Effect.provideService(SqlClient.SqlClient, client), Effect.forkScoped)
      return Context.add(contextOf(client, client, client), DatabaseLoss, loss.awaitLoss)
    })
  ).pipe(Layer.provide(Reactivity.layer))
}

/** Does not close a lost database: closing writes to its files. */
function acquire(open: () => Promise<Opened>, loss: Loss) {
  return Effect.acquireRelease(Effect.tryPromise(open), ({ db }) =>
    loss.error === undefined ? Effect.promise(() => db.close()) : Effect.void
  )
}

const TAKEN_OVER = "this process was paused for so long that another process took over its data directory"

const contextOf = (main: PgClient.PgClient, batch: PgClient.PgClient, relaxed: PgClient.PgClient) =>
  Context.make(PgClient.PgClient, main).pipe(
    Context.add(SqlClient.SqlClient, main),
    Context.add(BatchSql, batch),
    Context.add(RelaxedSql, relaxed)
  )

/**
 * Replicas may start at once: the migrator locks its table, and the second replica waits and finds nothing left to do.
 */
const runMigrations = (client: PgClient.PgClient) =>
  migrate.pipe(
    Effect.andThen(migrateServer),
    Effect.provideService(SqlClient.SqlClient, client),
    Effect.mapError((error) => new MigrationFailed({ reason: reasonOf(error) }))
  )
