/** Which failures of the store pass: trying again later helps. */
import { Effect } from "effect"
import { SqlError } from "effect/sql"

/**
 * SQLSTATE classes and codes: out of connections, memory or disk (53), shutting down (57P), its system fails (58), read-only as a
 * standby is (25006).
 */
const AWAY = /^(53...|57P..|58...|25006)$/
const REASONS = new Set(["ConnectionError", "AuthenticationError", "StatementTimeoutError", "LockTimeoutError"])

/** Whether a failure says that the store serves nobody now, whatever is asked. */
export const isUnavailable = (failure: unknown): boolean => {
  if (!SqlError.isSqlError(failure)) return false
  const { _tag, operation } = failure.reason
  return REASONS.has(_tag) || operation === "connect" || AWAY.test(sqlStateOf(failure))
}

const CONFLICTS = new Set(["SerializationError", "DeadlockError"])

/**
 * Whether asking once more may well succeed: the store is away, or two statements met in it and this one lost. Not
 * `isUnavailable`: of many rows that were written together, the others are still worth a try.
 */
export const isTransient = (failure: unknown): boolean =>
  isUnavailable(failure) || (SqlError.isSqlError(failure) && CONFLICTS.has(failure.reason._tag))

/** Whether a statement that failed so may have come through: its connection was lost after it was said. */
export const isOutcomeUnknown = (failure: unknown): boolean =>
  SqlError.isSqlError(failure) && failure.reason._tag === "ConnectionError" && failure.reason.operation !== "connect"

/** Fails as `failure` says where `effect` died of such a failure of the store, which the log tells. */
export const recoverDefect = <A, E, R, F>(
  effect: Effect.Effect<A, E, R>,
  is: (failure: unknown) => boolean,
  failure: () => F
): Effect.Effect<A, E | F, R> =>
  Effect.catchDefect(effect, (defect) => {
    if (!is(defect)) return Effect.die(defect)
    const told = failure()
    return Effect.andThen(
      Effect.logError("Whether something was recorded is not known", told, defect),
      Effect.fail(told)
    )
  })

/** PostgreSQL's code of a failure; empty where it has none. */
export const sqlStateOf = (failure: unknown): string => {
  const cause = SqlError.isSqlError(failure) ? failure.reason.cause : undefined
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""
}
