/** Retries of statements: the failures that are retried, the number of retries, and the final error. */
import { expect, it } from "@effect/vitest"
import { retryUnconfirmed } from "@sluice/domain/database/StatementRetry"
import { Effect, Fiber } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"

const cause = new Error("no")
const error = (reason: SqlError.SqlErrorReason) => new SqlError.SqlError({ reason })
const lost = error(new SqlError.ConnectionError({ cause, operation: "query" }))
const unreached = error(new SqlError.ConnectionError({ cause, operation: "connect" }))
const beaten = error(new SqlError.DeadlockError({ cause }))
const collided = error(new SqlError.UniqueViolation({ cause, constraint: "jobs_pkey" }))
const wrong = error(new SqlError.ConstraintError({ cause }))

/** Fails with the given errors in turn, then succeeds; returns the time of each try and the result. */
const said = Effect.fnUntraced(function* (...answers: ReadonlyArray<SqlError.SqlError>) {
  const times: Array<number> = []
  const fiber = yield* retryUnconfirmed(
    Effect.clockWith((clock) => {
      const answer = answers[times.length]
      times.push(clock.currentTimeMillisUnsafe())
      return answer === undefined ? Effect.succeed("well") : Effect.fail(answer)
    })
  ).pipe(Effect.match({ onSuccess: String, onFailure: (failure) => failure }), Effect.forkChild)
  yield* TestClock.adjust("10 seconds")
  return { times, end: yield* Fiber.join(fiber) }
})

it.effect("a lost connection and a lost race are retried; a collision is checked at once", () =>
  Effect.gen(function* () {
    expect(yield* said()).toEqual({ times: [0], end: "well" })
    const from = 10_000
    expect(yield* said(beaten, beaten)).toEqual({ times: [from, from + 50, from + 100], end: "well" })
    expect(yield* said(collided)).toEqual({ times: [2 * from, 2 * from], end: "well" })
    // The later of two statements sees the effect of the lost one.
    const since = 3 * from
    expect(yield* said(lost)).toEqual({ times: [since, since + 50, since + 50], end: "well" })
    const twice = [since + from, ...Array.from({ length: 3 }, () => since + from + 50)]
    expect(yield* said(lost, collided)).toEqual({ times: twice, end: "well" })
  })
)

it.effect("a permanent failure is not retried, and a statement runs three times at most", () =>
  Effect.gen(function* () {
    const ends = (...answers: ReadonlyArray<SqlError.SqlError>) =>
      Effect.map(said(...answers), ({ end, times }) => [times.length, end])
    expect(yield* ends(wrong)).toEqual([1, wrong])
    expect(yield* ends(collided, collided, collided)).toEqual([3, collided])
    // After the last wait the outcome is checked once more, and not twice.
    expect(yield* ends(beaten, beaten, collided)).toEqual([4, "well"])
    expect(yield* ends(beaten, beaten, collided, collided)).toEqual([4, collided])
    expect(yield* ends(unreached, unreached, unreached)).toEqual([3, unreached])
    // A statement that may have committed stays unknown, whatever the outcome of the others.
    expect(yield* ends(lost, unreached, unreached)).toEqual([3, lost])
    expect(yield* ends(unreached, lost, wrong)).toEqual([3, lost])
  })
)
