/** Whole answers: each is charged when it arrives, and its hold is released on every other end. */
import { assert, describe, it } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { CreditInsufficient } from "../../../src/billing/BillingErrors.ts"
import { ANSWER_LIMIT_MS, AnswerLimit } from "../../../src/inference/answers/AnswerLimit.ts"
import { CreditBlock, type CreditLease } from "../../../src/metering/CreditBlock.ts"
import { Metering } from "../../../src/metering/Metering.ts"
import { type Settlement } from "../../../src/metering/Settlement.ts"
import { UpstreamFailed } from "../../../src/models/UpstreamFailed.ts"
import { makeMeteredResult, type ResultOrder } from "../../../src/inference/answers/MeteredResult.ts"
import { idOf, replica } from "@sluice/testing/fixtures/Workspace"

const order: ResultOrder = {
  principal: idOf.principal(1),
  requestId: "r",
  model: "m",
  description: "Embeddings of m",
  param: "input",
  cost: 7n,
  tokens: { prompt: 3, completion: 0 }
}

/** `lease`: what is reserved is a part of a block. */
const books = (balance: bigint, lease?: CreditLease) => {
  const settled: Array<Settlement> = []
  const metering: Metering["Service"] = {
    reserve: (charge, amount) =>
      amount <= balance
        ? Effect.succeed({ ...charge, lease })
        : Effect.fail(new CreditInsufficient({ required: amount, available: balance })),
    settle: (settlement) => Effect.sync(() => void settled.push(settlement))
  }
  const whole = makeMeteredResult.pipe(Effect.provideService(Metering, metering), Effect.provide(NodeCrypto.layer))
  return {
    settled,
    whole: <A, E>(produce: Effect.Effect<A, E>, owedFor?: (answer: A) => Pick<ResultOrder, "cost" | "tokens">) =>
      Effect.flatMap(whole, (ask) => ask(order, produce, owedFor)).pipe(
        Effect.provide(AnswerLimit.layer.pipe(Layer.provideMerge(replica)))
      )
  }
}

describe("A whole answer", () => {
  it.effect("is charged once when it arrived", () =>
    Effect.gen(function* () {
      const { settled, whole } = books(7n)
      assert.strictEqual(yield* whole(Effect.succeed("vectors")), "vectors")
      assert.deepStrictEqual(
        settled.map(({ cost, tokens }) => ({ cost, tokens })),
        [{ cost: 7n, tokens: { prompt: 3, completion: 0 } }]
      )
    })
  )

  it.effect("is charged its own cost, where only the answer has it", () =>
    Effect.gen(function* () {
      const { settled, whole } = books(7n)
      const owed = { cost: 5n, tokens: { prompt: 2, completion: 0 } }
      yield* whole(Effect.succeed("vectors"), () => owed)
      assert.deepStrictEqual(
        settled.map(({ cost, tokens }) => ({ cost, tokens })),
        [owed]
      )
    })
  )

  it.effect("is settled from its credit block, whether it arrived or not", () =>
    Effect.gen(function* () {
      for (const produce of [Effect.succeed("vectors"), Effect.fail("broken")]) {
        const lease: CreditLease = { block: new CreditBlock("b", 10n, 0), amount: 7n, isReturned: false }
        const { settled, whole } = books(7n, lease)
        yield* Effect.exit(whole(produce))
        assert.deepStrictEqual(
          settled.map((settlement) => settlement.lease),
          [lease]
        )
      }
    })
  )

  it.effect("is given up by every service while its hold lives", () =>
    Effect.gen(function* () {
      const { settled, whole } = books(7n)
      const fiber = yield* Effect.forkChild(whole(Effect.never))
      yield* TestClock.adjust(ANSWER_LIMIT_MS)
      assert.deepStrictEqual(fiber.pollUnsafe(), Exit.fail(new UpstreamFailed({ reason: "timeout" })))
      assert.deepStrictEqual(
        settled.map(({ cost, tokens }) => ({ cost, tokens })),
        [{ cost: 0n, tokens: null }]
      )
    })
  )

  it.effect("is not requested without the money", () =>
    Effect.gen(function* () {
      const { settled, whole } = books(6n)
      const never = Effect.die(new Error("it was asked for"))
      const exit = yield* Effect.exit(whole(never))
      assert.include(String(Exit.isFailure(exit) && exit.cause), "CreditInsufficient")
      assert.deepStrictEqual(settled, [])
    })
  )

  for (const [how, produce] of [
    ["fails", Effect.fail(new UpstreamFailed({ reason: "broken" }))],
    ["dies", Effect.die(new Error("a defect"))],
    ["is given up by its caller", Effect.never]
  ] as const) {
    it.effect(`costs nothing where the model ${how}`, () =>
      Effect.gen(function* () {
        const { settled, whole } = books(7n)
        const fiber = yield* Effect.forkChild(whole(produce))
        yield* TestClock.adjust(10)
        if (how.startsWith("is given up")) yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
        assert.deepStrictEqual(
          settled.map(({ cost, tokens }) => ({ cost, tokens })),
          [{ cost: 0n, tokens: null }]
        )
      })
    )
  }
})
