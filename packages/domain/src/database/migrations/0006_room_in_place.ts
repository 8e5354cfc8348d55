/**
 * Rows of jobs and machines are claimed and given back many times in their lives: room in their pages lets an update that
 * touches no indexed column stay in its page and leave the indexes alone.
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
