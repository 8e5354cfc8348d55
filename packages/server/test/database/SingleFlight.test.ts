/** Health questions with a bound: every caller waits at most that long, and concurrent callers share one question. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { singleFlight } from "../../src/database/SingleFlight.ts"

describe("singleFlight", () => {
  it.effect("asks once while no answer comes, and asks again afterwards", () =>
    Effect.gen(function* () {
      let asked = 0
      let answer = yield* Deferred.make<number, "away">()
      const question = Effect.suspend(() => {
        asked++
        return Effect.uninterruptible(Deferred.await(answer))
      })
      const ask = yield* singleFlight(question, Duration.seconds(2))

      const first = yield* Effect.forkChild(Effect.all([Effect.result(ask), Effect.result(ask)], { concurrency: 2 }))
      yield* TestClock.adjust("2 seconds")
      for (const result of yield* Fiber.join(first)) {
        assert.isTrue(Result.isFailure(result))
      }
      const second = yield* Effect.forkChild(ask)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(asked, 1)
      yield* Deferred.succeed(answer, 7)
      assert.strictEqual(yield* Fiber.join(second), 7)

      answer = yield* Deferred.make<number, "away">()
      yield* Deferred.fail(answer, "away")
      assert.strictEqual(yield* Effect.flip(ask), "away")
      assert.strictEqual(asked, 2)
    })
  )
})
