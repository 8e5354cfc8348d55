/** A database that watches itself: with the guards of the invariants. One serves many runs. */
import { Effect } from "effect"
import { makeInvariants } from "../invariants/InvariantChecker.ts"
import { open } from "./SharedDatabase.ts"

export const openDatabase = Effect.gen(function* () {
  const database = yield* open
  yield* Effect.scoped(Effect.flatMap(database.outside, (sql) => makeInvariants(sql).install))
  return database
})
