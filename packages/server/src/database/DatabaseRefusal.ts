/**
 * What a database says when it does not do what it was asked: a disk without room, a role that may only read. Who starts or
 * administers a server is told the database's own words; a caller of the service never is.
 */
import { Cause, Effect } from "effect"
import { SqlError } from "effect/sql"
import { DatabaseRefused } from "./DatabaseErrors.ts"

/** Fails with what the database refused, also where it was taken for a defect. */
export const refusalTold = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | DatabaseRefused, R> =>
  Effect.catchCause(effect, (cause): Effect.Effect<never, Exclude<E, SqlError.SqlError> | DatabaseRefused> => {
    const error = Cause.squash(cause)
    return SqlError.isSqlError(error)
      ? Effect.fail(new DatabaseRefused({ reason: reasonOf(error) }))
      : Effect.failCause(cause as Cause.Cause<Exclude<E, SqlError.SqlError>>)
  })

/** What went wrong in a few words, from the innermost cause that says something; drivers put no secret there. */
export const reasonOf = (cause: unknown): string => {
  let reason = "unknown"
  for (let at: unknown = cause, depth = 0; at instanceof Error && depth < MAX_DEPTH; at = at.cause, depth++) {
    if (at.message !== "") reason = at.message
    if ("code" in at && typeof at.code === "string") reason = at.message === "" ? at.code : `${at.message} (${at.code})`
  }
  return reason
}
const MAX_DEPTH = 8
