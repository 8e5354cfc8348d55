/** Whether the database answers, and can be written to. */
import { StoreWrites } from "@sluice/domain/database/StoreWrites"
import { Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

/** It answers, and takes nothing: a standby, one that was made read-only, or one whose disk is full. */
class StoreReadOnly extends Data.TaggedError("StoreReadOnly")<{}> {}

export class StoreProbe extends Context.Service<
  StoreProbe,
  { readonly answers: Effect.Effect<void, SqlError | StoreReadOnly> }
>()("@sluice/server/site/StoreProbe") {
  static readonly layer = Layer.effect(
    StoreProbe,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const writes = yield* StoreWrites
      return StoreProbe.of({
        answers: Effect.flatMap(
          sql<{ readonly mode: string }>`select current_setting('transaction_read_only') as mode`,
          ([row]) => (row?.mode === "on" || writes.refused() ? Effect.fail(new StoreReadOnly()) : Effect.void)
        )
      })
    })
  )
}
