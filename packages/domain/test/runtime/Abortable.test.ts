/** Abortable work: it ends by itself, or a watch interrupts it, waits for it, and returns the reason. */
import { assert, describe, it } from "@effect/vitest"
import { ANSWER_LIMIT_MS, AnswerLimit } from "@sluice/domain/inference/answers/AnswerLimit"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { type Abort, withAbort } from "@sluice/domain/runtime/Abortable"
import { Context, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { replica } from "@sluice/testing/fixtures/Workspace"

/** A watch that the test controls. */
const held = () => {
  const watch: { begun: number; over: number; end: Abort<string> } = { begun: 0, over: 0, end: () => {} }
  const begin = (end: Abort<string>) => {
    watch.begun++
    watch.end = end
    return () => void watch.over++
  }
  return { watch, begin }
}

/** Waits for ever, and takes one turn to release its resources. */
const lettingGo = (log: Array<string>) =>
  Effect.onInterrupt(Effect.never, () =>
    Effect.andThen(
      Effect.yieldNow,
      Effect.sync(() => void log.push("let go"))
    )
  )

describe("unless", () => {
  it.effect("starts no watch for work that completes at once", () =>
    Effect.gen(function* () {
      const { begin, watch } = held()
      assert.strictEqual(yield* withAbort(Effect.succeed(1), begin), 1)
      assert.deepStrictEqual(yield* Effect.exit(withAbort(Effect.fail("no"), begin)), Exit.fail("no"))
      assert.strictEqual(watch.begun, 0)
    })
  )

  it.effect("returns the result in the caller's own context, and stops the watch", () =>
    Effect.gen(function* () {
      class Name extends Context.Service<Name, string>()("Name") {}
      const { begin, watch } = held()
      const later = Effect.andThen(Effect.sleep(10), Name)
      const fiber = yield* Effect.forkChild(Effect.provideService(withAbort(later, begin), Name, "ours"))
      yield* TestClock.adjust(10)
      assert.strictEqual(yield* Fiber.join(fiber), "ours")
      assert.deepStrictEqual([watch.begun, watch.over], [1, 1])
    })
  )

  it.effect("fails with the first reason, after the work has released its resources", () =>
    Effect.gen(function* () {
      const { begin, watch } = held()
      const log: Array<string> = []
      const fiber = yield* Effect.forkChild(withAbort(lettingGo(log), begin))
      yield* TestClock.adjust(1)
      watch.end("key deleted")
      watch.end("too late")
      assert.deepStrictEqual(yield* Fiber.await(fiber), Exit.fail("key deleted"))
      assert.deepStrictEqual([log, watch.over], [["let go"], 1])
    })
  )

  it.effect("is interrupted with its caller, which waits for it", () =>
    Effect.gen(function* () {
      const { begin, watch } = held()
      const log: Array<string> = []
      const fiber = yield* Effect.forkChild(withAbort(lettingGo(log), begin))
      yield* TestClock.adjust(1)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(fiber.pollUnsafe()!))
      assert.deepStrictEqual([log, watch.over], [["let go"], 1])
    })
  )
})

const limit = AnswerLimit.layer.pipe(Layer.provide(replica))

describe("The limit of an answer", () => {
  it.effect("applies to each answer from its own beginning", () =>
    Effect.gen(function* () {
      const within = yield* AnswerLimit
      const overdue = Exit.fail(new UpstreamFailed({ reason: "timeout" }))
      const begin = (answer: Effect.Effect<void>) => Effect.forkChild(within(answer))
      const first = yield* begin(Effect.never)
      yield* TestClock.adjust(1_000)
      const second = yield* begin(Effect.never)
      const brief = yield* begin(Effect.sleep(5_000))
      yield* TestClock.adjust(ANSWER_LIMIT_MS - 1_001)
      assert.deepStrictEqual(
        [first, second, brief].map((fiber) => fiber.pollUnsafe()),
        [undefined, undefined, Exit.void]
      )
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([first.pollUnsafe(), second.pollUnsafe()], [overdue, undefined])
      yield* TestClock.adjust(999)
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(second.pollUnsafe(), overdue)
      // Nothing was running: the watch begins again.
      const third = yield* begin(Effect.never)
      yield* TestClock.adjust(ANSWER_LIMIT_MS)
      assert.deepStrictEqual(third.pollUnsafe(), overdue)
    }).pipe(Effect.provide(limit))
  )

  it.effect("applies to work that begins at the moment another answer is ended", () =>
    Effect.gen(function* () {
      const within = yield* AnswerLimit
      const again = Effect.catchTag(within(Effect.never), "UpstreamFailed", () => within(Effect.never))
      const fiber = yield* Effect.forkChild(again)
      yield* TestClock.adjust(ANSWER_LIMIT_MS)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(ANSWER_LIMIT_MS)
      assert.deepStrictEqual(fiber.pollUnsafe(), Exit.fail(new UpstreamFailed({ reason: "timeout" })))
    }).pipe(Effect.provide(limit))
  )

  it.effect("is one for all services that provide it", () =>
    Effect.gen(function* () {
      const seen: Array<AnswerLimit["Service"]> = []
      const service = () =>
        Layer.effectDiscard(Effect.map(AnswerLimit, (within) => void seen.push(within))).pipe(
          Layer.provide(AnswerLimit.layer)
        )
      yield* Layer.build(Layer.mergeAll(service(), service()).pipe(Layer.provide(replica)))
      assert.strictEqual(seen.length, 2)
      assert.strictEqual(seen[0], seen[1])
    })
  )
})
