/**
 * Simulated models give the same answer for the same request, and keep stop, max_tokens and schemas for every request.
 */
import { describe, expect, it } from "@effect/vitest"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { type ChatEvent, ModelProvider } from "@sluice/domain/models/ModelProvider"
import { Tokens } from "@sluice/domain/models/Tokens"
import { Studio } from "@sluice/simulator/models/Studio"
import { defaultWorld, instant, type ModelWorld } from "@sluice/simulator/models/ModelWorld"
import * as SimulatedModels from "@sluice/simulator/models/SimulatedModels"
import { Clock, Effect, Fiber, Layer, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { heard } from "@sluice/testing/fixtures/Answers"

/** A token is a word with its space, or a part of 5 characters of it. */
const count = (text: string) => text.match(/\s*\S{1,5}|\s+/gu)?.length ?? 0
const tokens = Layer.succeed(Tokens, Tokens.by(count))
/** Sounds and videos do not matter here. */
const studio = Layer.succeed(Studio, { render: () => Effect.never, wordsOf: () => Effect.never })

const requestOf = (body: object) => {
  const result = decodeChat({
    model: "sluice-large",
    messages: [{ role: "user", content: "How are bridges built?" }],
    ...body
  })
  if (Result.isFailure(result)) throw result.failure
  return result.success
}

const events = Effect.fn(function* (body: object) {
  const provider = yield* ModelProvider
  const request = requestOf(body)
  const model = provider.models.find(({ id }) => id === request.model)!
  return [...(yield* heard(provider, model, request))]
})

const answerOf = (all: ReadonlyArray<ChatEvent>, index = 0) => ({
  text: all.map((event) => (event._tag === "Text" && event.index === index ? event.text : "")).join(""),
  reason: all.find((event) => event._tag === "Finish" && event.index === index)
})

const inWorld = (world: ModelWorld) =>
  Effect.provide(SimulatedModels.layer(world).pipe(Layer.provide(tokens), Layer.provide(studio)))

describe("SimulatedModels", () => {
  it.effect("gives the same text for the same request, and another text for another seed, prompt or choice", () =>
    Effect.gen(function* () {
      const base = yield* events({}).pipe(inWorld(instant(1)))
      expect(yield* events({ temperature: 1 }).pipe(inWorld(instant(1)))).toEqual(base)
      const texts = [
        answerOf(base).text,
        answerOf(yield* events({ seed: 2 }).pipe(inWorld(instant(1)))).text,
        answerOf(yield* events({}).pipe(inWorld(instant(2)))).text,
        answerOf(
          yield* events({ messages: [{ role: "user", content: "Why is the sky blue?" }] }).pipe(inWorld(instant(1)))
        ).text,
        answerOf(yield* events({ n: 2 }).pipe(inWorld(instant(1))), 1).text
      ]
      expect(new Set(texts).size).toBe(texts.length)
      expect(texts.every((text) => text.length > 20)).toBe(true)
    })
  )

  it.effect("refuses the schema of a tool that it would call, and of no other tool", () =>
    Effect.gen(function* () {
      const provider = yield* ModelProvider
      const parameters = {
        type: "object",
        properties: { at: { type: "string", pattern: "^(?=a)" } },
        required: ["at"]
      }
      const tools = ["find_bridges", "order_pizza"].map((name) => ({
        type: "function",
        function: { name, parameters }
      }))
      const refusal = (body: object) => provider.refuses?.(provider.models[0]!, requestOf({ tools, ...body }))?.param
      expect(refusal({})).toBe("tools.0.function.parameters")
      expect(refusal({ tools: tools.slice(1) })).toBeUndefined()
      expect(answerOf(yield* events({ tools: tools.slice(1) })).text).not.toBe("")
      expect(refusal({ tools, tool_choice: { type: "function", function: { name: "order_pizza" } } })).toBe(
        "tools.1.function.parameters"
      )
    }).pipe(inWorld(instant(1)))
  )

  it.effect("sends word by word at its pace, with the text of the instant world", () =>
    Effect.gen(function* () {
      const world = defaultWorld(1)
      const start = yield* Clock.currentTimeMillis
      const at: Array<number> = []
      const fiber = yield* Effect.forkChild(
        Effect.gen(function* () {
          const provider = yield* ModelProvider
          const all: Array<ChatEvent> = []
          yield* provider.chat(world.models[1]!, requestOf({}), (events) =>
            Effect.map(Clock.currentTimeMillis, (now) => {
              all.push(...events)
              at.push(...events.map(() => now - start))
            })
          )
          return all
        }).pipe(inWorld(world))
      )
      yield* TestClock.adjust("2 minutes")
      const all = yield* Fiber.join(fiber)
      expect(all.length).toBeGreaterThan(60)
      expect(answerOf(all).text).toBe(answerOf(yield* events({}).pipe(inWorld({ ...world, latency: "none" }))).text)
      expect(at[0]).toBeGreaterThanOrEqual(450 * 0.6)
      const perWord = (at.at(-1)! - at[0]!) / (all.length - 2)
      expect(perWord).toBeGreaterThan(20)
      expect(perWord).toBeLessThan(40)
      expect(new Set(at).size).toBeGreaterThan(all.length / 2)
    })
  )

  it.effect.prop(
    "sends all text before the stop text, never the stop text, and keeps max_tokens",
    [
      Schema.String.check(Schema.isMaxLength(60)),
      Schema.Array(Schema.Literals(["a", "b", "ab", "ba ", " ", "the", "\n"])).check(Schema.isMaxLength(4)),
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 })),
      Schema.Boolean
    ],
    ([words, stop, max_tokens, stream]) =>
      Effect.gen(function* () {
        const messages = [{ role: "user", content: `echo: ${words}ab ba the end` }]
        const whole = answerOf(yield* events({ messages, stream })).text
        const expected = whole.slice(
          0,
          Math.min(whole.length, ...stop.flatMap((one) => (whole.includes(one) ? whole.indexOf(one) : [])))
        )
        const stopped = answerOf(yield* events({ messages, stop, stream }))
        expect(stopped.text).toBe(expected)
        const short = answerOf(yield* events({ messages, stop, max_tokens, stream }))
        expect(count(short.text)).toBeLessThanOrEqual(max_tokens)
        expect(expected.startsWith(short.text)).toBe(true)
        expect(short.reason).toMatchObject({ reason: short.text === expected ? "stop" : "length" })
        if (short.text !== expected) expect(count(short.text)).toBe(max_tokens)
      }).pipe(inWorld(instant(3)))
  )
})
