/** What its caller calls an order of a film: said twice, it is one. Some databases have it since their films began. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  `alter table videos add column if not exists idempotency_key text`,
  `create unique index if not exists videos_once on videos (environment_id, idempotency_key)
     where idempotency_key is not null and deleted_at is null`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
