/**
 * Checks that the database answers and accepts writes, on the connections of requests and on those of batches: a
 * PostgreSQL at its limit of connections may refuse one pool and keep the other.
 */
import { BatchSql } from "@sluice/domain/database/Clients"
import { StoreWrites } from "@sluice/domain/database/StoreWrites"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

/** The database answers but accepts no writes: it is a standby, read-only, or its disk is full. */
class StoreReadOnly extends Schema.TaggedError<StoreReadOnly>()("StoreReadOnly", {}) {}

export class StoreProbe extends Context.Service<
  StoreProbe,
  { readonly answers: Effect.Effect<void, SqlError | StoreReadOnly> }
>()("@sluice/server/site/StoreProbe") {
  static readonly layer = Layer.effect(
    StoreProbe,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const batch = yield* BatchSql
      const writes = yield* StoreWrites
      const mode = sql<{ readonly mode: string }>`select current_setting('transaction_read_only') as mode`
      return StoreProbe.of({
        answers: Effect.all([mode, batch`select 1`], { concurrency: 2 }).pipe(
          Effect.flatMap(([[row]]) =>
            row?.mode === "on" || writes.isDiskFull() ? Effect.fail(new StoreReadOnly()) : Effect.void
          )
        )
      })
    })
  )
}
