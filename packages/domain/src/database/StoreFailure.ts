/** Classification of failures of the database: is it unavailable, can a retry succeed, and is the outcome unknown? */
import { Effect } from "effect"
import { SqlError } from "effect/sql"

/**
 * SQLSTATE classes and codes of an unavailable database: no connections, memory or disk left (53), shutting down (57P),
 * system error (58), read-only because it is a standby (25006).
 */
const UNAVAILABLE = /^(53...|57P..|58...|25006)$/
const UNAVAILABLE_REASONS = new Set([
  "ConnectionError",
  "AuthenticationError",
  "StatementTimeoutError",
  "LockTimeoutError"
])

/** Returns whether the database serves no statement now, whatever the statement is. */
export const isUnavailable = (failure: unknown): boolean => {
  if (!SqlError.isSqlError(failure)) return false
  const { _tag, operation } = failure.reason
  return UNAVAILABLE_REASONS.has(_tag) || operation === "connect" || UNAVAILABLE.test(sqlStateOf(failure))
}

const CONFLICTS = new Set(["SerializationError", "DeadlockError"])

/**
 * Returns whether a retry may succeed: the database is unavailable, or the statement lost a conflict with another one.
 * A conflict is not `isUnavailable`: of many rows that were written together, the others are worth a retry.
 */
export const isTransient = (failure: unknown): boolean =>
  isUnavailable(failure) || (SqlError.isSqlError(failure) && CONFLICTS.has(failure.reason._tag))

/** Returns whether the failed statement may have committed: its connection was lost after the statement was sent. */
export const isOutcomeUnknown = (failure: unknown): boolean =>
  SqlError.isSqlError(failure) && failure.reason._tag === "ConnectionError" && failure.reason.operation !== "connect"

/** Turns a defect of `effect` into `failure`, if `is` accepts it. The defect is logged. */
export const recoverDefect = <A, E, R, F>(
  effect: Effect.Effect<A, E, R>,
  is: (failure: unknown) => boolean,
  failure: () => F
): Effect.Effect<A, E | F, R> =>
  Effect.catchDefect(effect, (defect) => {
    if (!is(defect)) return Effect.die(defect)
    const failed = failure()
    return Effect.andThen(Effect.logError("The outcome of a statement is unknown", failed, defect), Effect.fail(failed))
  })

/** PostgreSQL's code of a failure (SQLSTATE); empty if the failure has none. */
export const sqlStateOf = (failure: unknown): string => {
  const cause = SqlError.isSqlError(failure) ? failure.reason.cause : undefined
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""
}
