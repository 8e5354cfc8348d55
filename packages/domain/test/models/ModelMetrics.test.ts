/** Metrics of model requests: each end is counted once, under its name, timed on the service's clock, and none stays open. */
import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { CreditInsufficient } from "@sluice/domain/billing/BillingErrors"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { type Emit, Inference } from "@sluice/domain/inference/chat/Inference"
import { ClientStalled } from "@sluice/domain/models/InferenceErrors"
import { Metering } from "@sluice/domain/metering/Metering"
import { ModelProvider } from "@sluice/domain/models/ModelProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Tokens } from "@sluice/domain/models/Tokens"
import { AnswerLimit } from "@sluice/domain/inference/answers/AnswerLimit"
import { makeMeteredResult } from "@sluice/domain/inference/answers/MeteredResult"
import * as DomainMetrics from "@sluice/domain/metrics/Metrics"
import { Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { modelAt } from "@sluice/testing/fixtures/Models"
import { idOf, replica } from "@sluice/testing/fixtures/Workspace"

const model = modelAt(1n, 1n)
const request = Result.getOrThrow(decodeChat({ model: "m", messages: [{ role: "user", content: "hello" }] }))
const principal = idOf.principal(1)
const poor = new CreditInsufficient({ required: 1n, available: 0n })

/** A model that answers after 0.3 s and ends a second later, as `end` says. */
const world = (end: Effect.Effect<void, UpstreamFailed>, money: Effect.Effect<void, CreditInsufficient>) =>
  Inference.layerNoDeps.pipe(
    Layer.provideMerge(
      Layer.succeed(Metering, { reserve: (charge) => Effect.as(money, charge), settle: () => Effect.void })
    ),
    Layer.provide(
      Layer.succeed(ModelProvider, {
        models: [model],
        chat: (_model, _request, hear) =>
          Effect.gen(function* () {
            yield* Effect.sleep(300)
            yield* hear([{ _tag: "Text", index: 0, text: "word" }])
            yield* Effect.sleep(1_000)
            yield* end
            yield* hear([{ _tag: "Finish", index: 0, reason: "stop" }])
          })
      })
    ),
    Layer.provide(
      Layer.succeed(
        Tokens,
        Tokens.by((text) => text.length)
      )
    ),
    Layer.provideMerge(AnswerLimit.layer),
    Layer.provideMerge(Layer.merge(NodeCrypto.layer, replica)),
    Layer.provideMerge(DomainMetrics.layer)
  )

const counted = Effect.map(DomainMetrics.Metrics, (metrics) => {
  const ends = Object.fromEntries(
    [...metrics.modelRequests.all].map(({ content, values }) => [values[1], content.value])
  )
  for (const { content } of metrics.modelOpen.all) assert.strictEqual(content.value, 0)
  return {
    ends,
    words: metrics.modelFirstWord.of("m").sum,
    answers: metrics.modelDuration.of("m").sum
  }
})
const none = { ok: 0, failed: 0, abandoned: 0, refused: 0 }

const cases: Readonly<
  Record<
    string,
    {
      readonly ends: object
      readonly words?: number
      readonly answers?: number
      readonly end?: Effect.Effect<void, UpstreamFailed>
      readonly money?: Effect.Effect<void, CreditInsufficient>
      readonly emit?: Emit<ClientStalled>
      readonly leave?: boolean
    }
  >
> = {
  "came whole": { ends: { ok: 1 }, words: 0.3, answers: 1.3 },
  "was streamed": { ends: { ok: 1 }, words: 0.3, answers: 1.3, emit: () => Effect.void },
  "failed at its model": { ends: { failed: 1 }, words: 0.3, end: new UpstreamFailed({ reason: "broken" }) },
  "met a defect": { ends: { failed: 1 }, words: 0.3, end: Effect.die(new Error("a defect")) },
  "was not paid for": { ends: { refused: 1 }, money: Effect.fail(poor) },
  "was not read": { ends: { abandoned: 1 }, words: 0.3, emit: () => Effect.fail(new ClientStalled()) },
  "was left": { ends: { abandoned: 1 }, words: 0.3, leave: true }
}

describe("A chat is counted once", () => {
  for (const [how, given] of Object.entries(cases)) {
    it.effect(`that ${how}`, () =>
      Effect.gen(function* () {
        const inference = yield* Inference
        const fiber = yield* Effect.forkChild(Effect.exit(inference.chat(principal, "r", request, given.emit)))
        yield* TestClock.adjust(500)
        const { modelOpen } = yield* DomainMetrics.Metrics
        const goesOn = given.money === undefined && how !== "was not read"
        assert.strictEqual(modelOpen.of("m", given.emit === undefined ? "no" : "yes").value, goesOn ? 1 : 0)
        if (given.leave === true) yield* Fiber.interrupt(fiber)
        yield* TestClock.adjust(1_000)
        if (given.leave !== true) yield* Fiber.join(fiber)
        assert.deepStrictEqual(yield* counted, {
          ends: { ...none, ...given.ends },
          words: given.words ?? 0,
          answers: given.answers ?? 0
        })
      }).pipe(Effect.provide(world(given.end ?? Effect.void, given.money ?? Effect.void)))
    )
  }
})

describe("A whole answer is counted once", () => {
  const order = {
    principal,
    requestId: "r",
    model: "m",
    description: "Something of m",
    param: "input",
    cost: 1n,
    tokens: { prompt: 0, completion: 0 }
  }
  it.effect("for each of its ends", () =>
    Effect.gen(function* () {
      const whole = yield* makeMeteredResult
      yield* whole(order, Effect.succeed("vectors"))
      yield* Effect.exit(whole(order, Effect.fail(new UpstreamFailed({ reason: "refused" }))))
      const fiber = yield* Effect.forkChild(whole(order, Effect.never))
      yield* TestClock.adjust(100)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual((yield* counted).ends, { ...none, ok: 1, failed: 1, abandoned: 1 })
    }).pipe(Effect.provide(world(Effect.void, Effect.void)))
  )
})
