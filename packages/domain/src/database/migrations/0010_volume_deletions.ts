/**
 * Volumes that the provider has not deleted yet. A volume that its caller deleted stays in this table until the
 * provider deleted it too.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  `create table if not exists volume_deletions (id uuid primary key, deleted_at timestamptz not null, wake_at timestamptz not null)`,
  // Volumes that were deleted before this migration: only a volume that a machine used can hold data.
  `insert into volume_deletions (id, deleted_at, wake_at) select x.id, timestamptz 'epoch', timestamptz 'epoch'
    from (select volume_id as id from machines union select volume_id from jobs) x
    where x.id is not null and not exists (select from volumes v where v.id = x.id) on conflict (id) do nothing`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
