/** A volume is attached to at most one machine at a time; the unique index guarantees it (decisions: Storage). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  // Machines that were attached to a volume of another machine keep running without it.
  `update machines m set volume_id = null from volumes v
    where v.id = m.volume_id and m.status not in ('stopped', 'failed') and v.attached_to is distinct from m.id`,
  `create unique index if not exists machines_volume on machines (volume_id) where volume_id is not null and status not in ('stopped', 'failed')`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
