/** Faulty models fail as upstreams do; what the service makes of it is charged at most once and only for what was said. */
import { NodeCrypto } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { allScopes, type Principal } from "@sluice/domain/access/Principal"
import { Replica } from "@sluice/domain/database/Replica"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { type ChatRequest } from "@sluice/domain/models/ChatRequest"
import { Inference } from "@sluice/domain/inference/chat/Inference"
import { Metering } from "@sluice/domain/metering/Metering"
import { type Settlement } from "@sluice/domain/metering/Settlement"
import {
  type ChatEvent,
  type Model,
  ModelProvider,
  type ModelProviderService
} from "@sluice/domain/models/ModelProvider"
import { Tokens } from "@sluice/domain/models/Tokens"
import { Effect, Exit, Fiber, Layer, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { CallFault } from "@sluice/simulator/faults/Fault"
import { faultyModels } from "@sluice/simulator/faults/FaultyModels"
import { type Malformed, malformations } from "@sluice/simulator/faults/MalformedAnswers"
import { faultDrawOf } from "./support/Faults.ts"
import { heard, saying } from "@sluice/testing/fixtures/Answers"

const model: Model = {
  id: "m",
  created: 0,
  ownedBy: "t",
  contextLength: 5_000,
  maxOutputTokens: 100,
  vision: false,
  promptPrice: 1_000_000n,
  completionPrice: 1_000_000n
}
const request: ChatRequest = Result.getOrThrow(
  decodeChat({ model: "m", messages: [{ role: "user", content: "hello" }], max_tokens: 40 })
)
const answer: ReadonlyArray<ChatEvent> = [
  ...Array.from({ length: 20 }, (): ChatEvent => ({ _tag: "Text", index: 0, text: "w " })),
  { _tag: "Finish", index: 0, reason: "stop" }
]
const listed = { created: 0, ownedBy: "t" }
const vectors = { ...listed, id: "v", dimensions: 2, contextLength: 9, promptPrice: 1n }
const pictures = { ...listed, id: "p", sizes: ["1x1"] as const, imagePrice: 1n }
const sound: ModelProviderService = {
  models: [model],
  embeddings: { models: [vectors], embed: () => Effect.succeed({ vectors: [new Float32Array(2)] }) },
  images: { models: [pictures], generate: () => Effect.succeed({ format: "png", files: [new Uint8Array(1)] }) },
  chat: saying(Stream.fromIterable(answer, { chunkSize: 1 }))
}
const events = (models: ModelProviderService) => Effect.exit(heard(models, model, request))
const faulty = (fault: CallFault, rate = 1, seed = 1) => {
  const { faultDraw, reported } = faultDrawOf({ [fault]: rate }, seed)
  return { models: faultyModels(sound, faultDraw), reported }
}

describe("faultyModels", () => {
  it.effect("answers as the inner provider while nothing strikes", () =>
    Effect.gen(function* () {
      expect(yield* events(faulty("model_cut", 0).models)).toEqual(Exit.succeed(answer))
    })
  )

  for (const [fault, reason] of [
    ["model_429", "overloaded"],
    ["model_500", "broken"],
    ["model_cut", "broken"]
  ] as const) {
    it.effect(`${fault} fails with ${reason}, and is counted`, () =>
      Effect.gen(function* () {
        const { models, reported } = faulty(fault)
        const exit = yield* events(models)
        expect(Exit.isFailure(exit) && String(exit.cause)).toContain("UpstreamFailed")
        const failure = yield* Effect.flip(heard(models, model, request))
        expect(failure.reason).toBe(reason)
        expect(reported.map((strike) => [strike.fault, strike.subject])).toEqual([
          [fault, "m"],
          [fault, "m"]
        ])
      })
    )
  }

  it.effect("model_hangs says some words and then nothing, for ever", () =>
    Effect.gen(function* () {
      const said: Array<ChatEvent> = []
      const { models } = faulty("model_hangs")
      const fiber = yield* Effect.forkChild(
        models.chat(model, request, (events) => Effect.sync(() => void said.push(...events)))
      )
      yield* TestClock.adjust("10 hours")
      expect(fiber.pollUnsafe()).toBeUndefined()
      expect(said.length).toBeLessThan(answer.length)
      yield* Fiber.interrupt(fiber)
    })
  )

  it.effect("embeddings and images are refused and hang as chats do, and are spared as they are", () =>
    Effect.gen(function* () {
      const asked = { prompt: "p", count: 1, size: "1x1" }
      const both = ({ embeddings, images }: ModelProviderService) => [
        Effect.asVoid(embeddings!.embed(vectors, ["text"], 2)),
        Effect.asVoid(images!.generate(pictures, asked))
      ]
      for (const call of both(faulty("model_429", 0).models)) yield* call
      for (const [fault, reason] of [
        ["model_429", "overloaded"],
        ["model_500", "broken"]
      ] as const) {
        for (const call of both(faulty(fault).models)) expect((yield* Effect.flip(call)).reason).toBe(reason)
      }
      for (const call of both(faulty("model_hangs").models)) {
        const fiber = yield* Effect.forkChild(call)
        yield* TestClock.adjust("10 hours")
        expect(fiber.pollUnsafe()).toBeUndefined()
        yield* Fiber.interrupt(fiber)
      }
    })
  )

  it.effect("the same seed gives the same faults, and the rate holds", () =>
    Effect.gen(function* () {
      const outcomes = (seed: number) =>
        Effect.gen(function* () {
          const { models } = faulty("model_cut", 0.25, seed)
          return yield* Effect.forEach(Array.from({ length: 400 }), () => Effect.map(events(models), Exit.isFailure))
        })
      const once = yield* outcomes(5)
      expect(yield* outcomes(5)).toEqual(once)
      const struck = once.filter((failed) => failed).length
      expect(struck).toBeGreaterThan(70)
      expect(struck).toBeLessThan(130)
    })
  )
})

const principal: Principal = {
  workspaceId: "00000001-0000-7000-8000-000000000001",
  environmentId: "00000002-0000-7000-8000-000000000001",
  keyId: "00000003-0000-7000-8000-000000000001",
  environmentName: "default",
  scopes: allScopes,
  rateLimitRpm: 600
}

/** Asks the real service through these models; answers how it went, what it handed on and what it charged. */
const ask = (models: ModelProviderService, streamed: boolean) =>
  Effect.gen(function* () {
    const settled: Array<Settlement> = []
    const emitted: Array<ChatEvent> = []
    let reserved = 0n
    const layer = Inference.layerNoDeps.pipe(
      Layer.provide(
        Layer.succeed(Metering, {
          reserve: (charge, amount) =>
            Effect.sync(() => {
              reserved += amount
              return charge
            }),
          settle: (settlement) => Effect.sync(() => void settled.push(settlement))
        })
      ),
      Layer.provide(Layer.succeed(ModelProvider, models)),
      Layer.provide(
        Layer.succeed(
          Tokens,
          Tokens.by((text) => text.length)
        )
      ),
      Layer.provide(
        Layer.merge(NodeCrypto.layer, Layer.succeed(Replica, { id: "t", leaseMs: 6_000, scale: 1, lookMs: 1_000 }))
      )
    )
    const emit = streamed
      ? (_: unknown, some: ReadonlyArray<ChatEvent>) => Effect.sync(() => void emitted.push(...some))
      : undefined
    const exit = yield* Effect.gen(function* () {
      const inference = yield* Inference
      const fiber = yield* Effect.forkChild(Effect.exit(inference.chat(principal, "r", request, emit)))
      for (let i = 0; i < 200; i++) yield* Effect.yieldNow
      yield* TestClock.adjust("21 minutes")
      return yield* Fiber.join(fiber)
    }).pipe(Effect.provide(layer))
    return { exit, settled, emitted, reserved }
  })

describe("the service over faulty models", () => {
  for (const fault of ["model_429", "model_500", "model_hangs", "model_cut"] as const) {
    it.effect(`${fault}: an error, one settlement, nothing charged that was not handed on`, () =>
      Effect.gen(function* () {
        for (const streamed of [false, true]) {
          const { exit, settled, emitted } = yield* ask(faulty(fault, 1, 4).models, streamed)
          expect(Exit.isFailure(exit) && String(exit.cause)).toContain("UpstreamFailed")
          expect(settled).toHaveLength(1)
          const length = emitted.reduce((sum, event) => sum + (event._tag === "Text" ? event.text.length : 0), 0)
          expect(settled[0]!.tokens?.completion ?? 0).toBe(length)
        }
      })
    )
  }

  const through = (name: Malformed, streamed: boolean) => ask(malformations[name](sound), streamed)

  for (const name of Object.keys(malformations) as ReadonlyArray<Malformed>) {
    it.effect(`${name}: settled once, never a defect`, () =>
      Effect.gen(function* () {
        for (const streamed of [false, true]) {
          const { exit, settled } = yield* through(name, streamed)
          expect(Exit.isSuccess(exit) || String(exit.cause).includes("UpstreamFailed")).toBe(true)
          expect(settled).toHaveLength(1)
        }
      })
    )
  }

  for (const name of ["noEnd", "nothing", "wordsWithoutBound"] as const) {
    it.effect(`${name} is no complete answer`, () =>
      Effect.gen(function* () {
        expect(Exit.isFailure((yield* through(name, false)).exit)).toBe(true)
      })
    )
  }

  // An upstream is believed no more than a caller.
  it.effect("a count that cannot be is not charged: never more than was held", () =>
    Effect.gen(function* () {
      const { settled, reserved } = yield* through("countTooHigh", false)
      expect(settled[0]!.cost <= reserved).toBe(true)
    })
  )

  it.effect("a count of zero is believed: zero is not unknown", () =>
    Effect.gen(function* () {
      const { settled } = yield* through("countTooLow", false)
      expect(settled[0]!.tokens?.completion).toBe(0)
    })
  )

  for (const name of ["choiceTooMany", "choiceBelowZero", "choiceThatIsNone"] as const) {
    it.effect(`${name}: words of a choice that nobody asked for are not handed on`, () =>
      Effect.gen(function* () {
        const { emitted } = yield* through(name, true)
        expect(emitted.filter((event) => "index" in event && event.index !== 0)).toEqual([])
      })
    )
  }
})
