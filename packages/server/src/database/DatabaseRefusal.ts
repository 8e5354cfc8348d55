/**
 * Turns an SQL error into `DatabaseRefused` with the database's own message: a full disk, a read-only role. Only people
 * who start or administer a server see these messages; callers of the API never do.
 */
import { Cause, Effect } from "effect"
import { SqlError } from "effect/sql"
import { DatabaseRefused } from "./DatabaseErrors.ts"

/** Fails with `DatabaseRefused` for an SQL error, also where that error was a defect. */
export const failWithRefusal = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | DatabaseRefused, R> =>
  Effect.catchCause(effect, (cause): Effect.Effect<never, Exclude<E, SqlError.SqlError> | DatabaseRefused> => {
    const error = Cause.squash(cause)
    return SqlError.isSqlError(error)
      ? Effect.fail(new DatabaseRefused({ reason: reasonOf(error) }))
      : Effect.failCause(cause as Cause.Cause<Exclude<E, SqlError.SqlError>>)
  })

/** Returns a short reason from the innermost cause that has a message. Drivers put no secrets in their messages. */
export const reasonOf = (cause: unknown): string => {
  let reason = "unknown"
  for (let at: unknown = cause, depth = 0; at instanceof Error && depth < MAX_DEPTH; at = at.cause, depth++) {
    if (at.message !== "") reason = at.message
    if ("code" in at && typeof at.code === "string") reason = at.message === "" ? at.code : `${at.message} (${at.code})`
  }
  return reason
}
const MAX_DEPTH = 8
