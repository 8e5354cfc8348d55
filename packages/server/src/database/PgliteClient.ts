/** A client of an embedded database. It needs no password, and waits without a timeout for the one backend. */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Duration, Effect } from "effect"
import type { Duplex } from "node:stream"
import { disableStatementCache } from "./StatementCacheOff.ts"

export const makePgliteClient = (stream: () => Duplex, maxConnections: number) =>
  PgClient.make({
    stream,
    ssl: false,
    username: "postgres",
    database: "postgres",
    maxConnections,
    connectTimeout: Duration.infinity,
    idleTimeout: Duration.infinity
  }).pipe(Effect.flatMap(disableStatementCache), Effect.orDie)
