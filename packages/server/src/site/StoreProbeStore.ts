/** Whether the database answers at all. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

export class StoreProbe extends Context.Service<StoreProbe, { readonly answers: Effect.Effect<void, SqlError> }>()(
  "@sluice/server/site/StoreProbe"
) {
  static readonly layer = Layer.effect(
    StoreProbe,
    Effect.map(SqlClient.SqlClient, (sql) => StoreProbe.of({ answers: Effect.asVoid(sql`select 1 as one`) }))
  )
}
