/** Whether a failure says that the store serves nobody now, whatever is asked: trying again later helps. */
import { SqlError } from "effect/sql"

/**
 * SQLSTATE classes and codes: out of connections, memory or disk (53), shutting down (57P), its system fails (58), read-only as a
 * standby is (25006).
 */
const AWAY = /^(53...|57P..|58...|25006)$/
const REASONS = new Set(["ConnectionError", "AuthenticationError", "StatementTimeoutError", "LockTimeoutError"])

export const isStoreAway = (failure: unknown): boolean => {
  if (!SqlError.isSqlError(failure)) return false
  const { _tag, cause, operation } = failure.reason
  if (REASONS.has(_tag) || operation === "connect") return true
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" && AWAY.test(cause.code)
}
