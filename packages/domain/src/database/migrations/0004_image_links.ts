/** Links to generated images, valid until they expire. Only the hash of a link's secret is stored. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  `create table image_links (
    id uuid primary key, hash text not null unique, workspace_id uuid not null, bytes bytea not null, expires_at timestamptz not null)`,
  `create index image_links_expiring on image_links (expires_at)`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
