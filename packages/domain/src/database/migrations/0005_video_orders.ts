/**
 * The idempotency key of a video order: two orders with one key are one video. Databases that were created with a later
 * 0003 have the column already.
 */
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
