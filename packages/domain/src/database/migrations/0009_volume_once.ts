/** A volume is with one machine at a time, whatever a statement was told of it (decisions: Storage). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  // Machines that were let at another's volume keep running without a claim to it.
  `update machines m set volume_id = null from volumes v
    where v.id = m.volume_id and m.status not in ('stopped', 'failed') and v.attached_to is distinct from m.id`,
  `create unique index if not exists machines_volume on machines (volume_id) where volume_id is not null and status not in ('stopped', 'failed')`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
