/** At what speed does the world of this database run? What an operator does there is dated by its clock. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** 1 where no world was ever faster than the wall clock. */
export const worldSpeed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly speed: number }>`select speed from world_clock`
  return rows[0]?.speed ?? 1
})
