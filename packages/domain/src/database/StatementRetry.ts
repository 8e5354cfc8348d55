/**
 * Retries of idempotent statements: those with a guard (an id, the state of a hold), so that a second execution changes
 * nothing. A statement whose connection was lost may have committed. The retry spares the caller an error, after which
 * it would ask again under a new id and may pay twice.
 */
import { Duration, Effect } from "effect"
import { SqlError } from "effect/sql"
import { isTransient, isOutcomeUnknown } from "./StoreFailure.ts"

const MAX_RETRIES = 2
const RETRY_DELAY = Duration.millis(50)

/**
 * Another run, perhaps this statement's own first execution, wrote the row that this execution collided with. A retry
 * sees that row.
 */
const isUniqueViolation = ({ reason }: SqlError.SqlError): boolean => reason._tag === "UniqueViolation"

/**
 * Retries up to twice: a transient failure after 50 ms, a unique violation at once. If the retries fail too, the error
 * is the one that left the outcome unknown, if there was one. After an unknown outcome each retry executes the
 * statement twice and returns the second result: the first execution may wait for locks of the lost one, and then does
 * not see the rows that the lost one wrote.
 */
export const retryUnconfirmed = <A, E, R>(
  statement: Effect.Effect<A, E | SqlError.SqlError, R>
): Effect.Effect<A, E | SqlError.SqlError, R> => {
  const execute = (
    retriesLeft: number,
    unknownOutcome?: SqlError.SqlError,
    wasCollision = false
  ): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.catchIf(
      unknownOutcome === undefined ? statement : Effect.andThen(statement, statement),
      SqlError.isSqlError,
      (error) => {
        const firstUnknown = unknownOutcome ?? (isOutcomeUnknown(error) ? error : undefined)
        const isCollision = isUniqueViolation(error)
        // The conflicting row is committed, so one more execution finds it, also after the last retry.
        const isExhausted = retriesLeft === 0 && (!isCollision || wasCollision)
        if (isExhausted || !(isCollision || isTransient(error))) return Effect.fail(firstUnknown ?? error)
        const retry = execute(Math.max(0, retriesLeft - 1), firstUnknown, isCollision)
        return isCollision ? retry : Effect.andThen(Effect.sleep(RETRY_DELAY), retry)
      }
    )
  return execute(MAX_RETRIES)
}
