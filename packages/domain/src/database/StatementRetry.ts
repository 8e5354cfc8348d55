/**
 * Statements that have a guard (an id, a hold's state), so that a second time changes nothing. One whose connection was lost may
 * have come through: it is said again, for whoever is told that it failed asks anew, and pays twice.
 */
import { Duration, Effect } from "effect"
import { SqlError } from "effect/sql"
import { isTransient, isOutcomeUnknown } from "./StoreFailure.ts"

const TIMES = 2
const AFTER = Duration.millis(50)

/** What another run wrote stands there by now, its own first one perhaps: it sees that when it is said again. */
const collided = ({ reason }: SqlError.SqlError): boolean => reason._tag === "UniqueViolation"

/**
 * Where no time helps, the failure is the one that leaves open whether it came through, if there was one. After such a one it
 * is said twice and the last answer counts: the first may have waited for the same locks and not have seen what came through.
 */
export const retryUnconfirmed = <A, E, R>(
  statement: Effect.Effect<A, E | SqlError.SqlError, R>
): Effect.Effect<A, E | SqlError.SqlError, R> => {
  const said = (
    times: number,
    unsure?: SqlError.SqlError,
    hadCollided = false
  ): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.catchIf(
      unsure === undefined ? statement : Effect.andThen(statement, statement),
      SqlError.isSqlError,
      (error) => {
        const known = unsure ?? (isOutcomeUnknown(error) ? error : undefined)
        const isCollision = collided(error)
        // What it met is there: one more look finds it, also after the last wait.
        const isOver = times === 0 && (!isCollision || hadCollided)
        if (isOver || !(isCollision || isTransient(error))) return Effect.fail(known ?? error)
        const again = said(Math.max(0, times - 1), known, isCollision)
        return isCollision ? again : Effect.andThen(Effect.sleep(AFTER), again)
      }
    )
  return said(TIMES)
}
