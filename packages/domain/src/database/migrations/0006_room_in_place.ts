/**
 * Free space in the pages of jobs and machines. Their rows are claimed and released many times; with free space an
 * update that changes no indexed column stays in its page and does not touch the indexes.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  `alter table machines set (fillfactor = 70)`,
  `alter table jobs set (fillfactor = 70)`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
