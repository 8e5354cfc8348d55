/**
 * Holds of inference requests. A hold with an expiry is settled by its request, or released by a sweep when the server
 * that ran the request is gone. Free models hold 0, but their hold is still the guard that settles a request once.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  `alter table holds drop constraint holds_amount_check`,
  `alter table holds add constraint holds_amount_check check (amount >= 0)`,
  `alter table holds add column expires_at timestamptz`,
  `create index holds_expiring on holds (expires_at) where expires_at is not null`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
