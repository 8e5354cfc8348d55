/** A pool of many fibers: all end with their scope, whenever they began. */
import { assert, describe, it } from "@effect/vitest"
import { makeFiberPool } from "@sluice/domain/runtime/FiberPool"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"

describe("Many fibers", () => {
  it.effect("are interrupted when their scope closes, which waits for them", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const begin = yield* Scope.provide(makeFiberPool(), scope)
      const ended: Array<number> = []
      const waiting = (n: number) =>
        Effect.onInterrupt(Effect.never, () =>
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => void ended.push(n))
          )
        )
      const fibers = [0, 1, 2].map((n) => begin(waiting(n)))
      const over = yield* Deferred.make<void>()
      const brief = begin(Deferred.await(over))
      yield* Deferred.succeed(over, undefined)
      assert.deepStrictEqual(yield* Effect.exit(Fiber.join(brief)), Exit.void)
      // In the place of the fiber that ended.
      const last = begin(waiting(3))
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(ended.toSorted(), [0, 1, 2, 3])
      for (const fiber of [...fibers, last]) assert.isTrue(Exit.hasInterrupts(fiber.pollUnsafe()!))
      assert.isTrue(Exit.hasInterrupts(yield* Effect.exit(Fiber.join(begin(waiting(4))))))
    })
  )
})
