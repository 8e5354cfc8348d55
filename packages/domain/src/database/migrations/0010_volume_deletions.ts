/** What is still to be deleted by the provider: a volume that its caller has deleted stays here until the provider has, too. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  `create table if not exists volume_deletions (id uuid primary key, deleted_at timestamptz not null, wake_at timestamptz not null)`,
  // Those that were deleted before: only one that a machine had can hold anything.
  `insert into volume_deletions (id, deleted_at, wake_at) select x.id, timestamptz 'epoch', timestamptz 'epoch'
    from (select volume_id as id from machines union select volume_id from jobs) x
    where x.id is not null and not exists (select from volumes v where v.id = x.id) on conflict (id) do nothing`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
