/**
 * Two further connections to the same database, for statements that many requests share.
 *
 * `BatchSql` plans each statement once (generic plans): otherwise PostgreSQL would plan batches of changing size each
 * time. `RelaxedSql` does the same, and its commits do not wait for the disk. Statements on `RelaxedSql` write only
 * facts that can be observed again after a crash of the database itself (claims, leases, the state of a machine), never
 * money or intents. On the embedded store both are the one client.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context } from "effect"

export class BatchSql extends Context.Service<BatchSql, PgClient.PgClient>()("@sluice/domain/database/BatchSql") {}

export class RelaxedSql extends Context.Service<RelaxedSql, PgClient.PgClient>()(
  "@sluice/domain/database/RelaxedSql"
) {}
