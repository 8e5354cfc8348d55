/** What is said again, how often, and what is told where that does not help. */
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

/** Says what is answered so in turn, and then that all is well: when each time was, and the end. */
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

it.effect("a connection that was lost and a lost race are no end; a collision is seen through at once", () =>
  Effect.gen(function* () {
    expect(yield* said()).toEqual({ times: [0], end: "well" })
    const from = 10_000
    expect(yield* said(beaten, beaten)).toEqual({ times: [from, from + 50, from + 100], end: "well" })
    expect(yield* said(collided)).toEqual({ times: [2 * from, 2 * from], end: "well" })
    // The last one of two sees what the one that was lost has done.
    const since = 3 * from
    expect(yield* said(lost)).toEqual({ times: [since, since + 50, since + 50], end: "well" })
    const twice = [since + from, ...Array.from({ length: 3 }, () => since + from + 50)]
    expect(yield* said(lost, collided)).toEqual({ times: twice, end: "well" })
  })
)

it.effect("what would fail again fails, and three times are enough", () =>
  Effect.gen(function* () {
    const ends = (...answers: ReadonlyArray<SqlError.SqlError>) =>
      Effect.map(said(...answers), ({ end, times }) => [times.length, end])
    expect(yield* ends(wrong)).toEqual([1, wrong])
    expect(yield* ends(collided, collided, collided)).toEqual([3, collided])
    // What it met after the last wait is seen by one more look, and by no second one.
    expect(yield* ends(beaten, beaten, collided)).toEqual([4, "well"])
    expect(yield* ends(beaten, beaten, collided, collided)).toEqual([4, collided])
    expect(yield* ends(unreached, unreached, unreached)).toEqual([3, unreached])
    // One that may have come through is not made good by what came of the others.
    expect(yield* ends(lost, unreached, unreached)).toEqual([3, lost])
    expect(yield* ends(unreached, lost, wrong)).toEqual([3, lost])
  })
)
