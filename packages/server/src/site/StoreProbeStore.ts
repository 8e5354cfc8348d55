/** Whether the database answers, and can be written to. */
import { Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

/** It answers, and takes nothing: a standby, or one that was made read-only. */
export class StoreReadOnly extends Data.TaggedError("StoreReadOnly")<{}> {}

export class StoreProbe extends Context.Service<
  StoreProbe,
  { readonly answers: Effect.Effect<void, SqlError | StoreReadOnly> }
>()("@sluice/server/site/StoreProbe") {
  static readonly layer = Layer.effect(
    StoreProbe,
    Effect.map(SqlClient.SqlClient, (sql) =>
      StoreProbe.of({
        answers: Effect.flatMap(
          sql<{ readonly mode: string }>`select current_setting('transaction_read_only') as mode`,
          ([row]) => (row?.mode === "on" ? Effect.fail(new StoreReadOnly()) : Effect.void)
        )
      })
    )
  )
}
