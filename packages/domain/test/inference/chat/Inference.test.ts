/** One path for all answers: the same text costs the same whether it is streamed, buffered or abandoned. */
import { NodeCrypto } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { Inference } from "@sluice/domain/inference/chat/Inference"
import { Metering } from "@sluice/domain/metering/Metering"
import { type Settlement } from "@sluice/domain/metering/Settlement"
import { type ChatEvent, ModelProvider } from "@sluice/domain/models/ModelProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { countSliced, fitByHalves, fitSliced, SLICE_LENGTH, Tokens } from "@sluice/domain/models/Tokens"
import { Effect, Exit, Fiber, Layer, Result, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { modelAt } from "@sluice/testing/fixtures/Models"
import { idOf, replica } from "@sluice/testing/fixtures/Workspace"
import { saying } from "@sluice/testing/fixtures/Answers"

const model = modelAt(1_000_000n, 3_000_000n)
const requestOf = (body: object) => {
  const result = decodeChat({ model: "m", messages: [{ role: "user", content: "hello" }], ...body })
  if (Result.isFailure(result)) throw result.failure
  return result.success
}

/** A token is a character here. */
const tokens = Layer.succeed(
  Tokens,
  Tokens.by((text) => text.length)
)

interface Books {
  readonly reserved: Array<bigint>
  readonly settled: Array<Settlement>
}

const inference = (books: Books, chat: Stream.Stream<ChatEvent>, counting = tokens) =>
  Inference.layerNoDeps.pipe(
    Layer.provide(
      Layer.succeed(Metering, {
        reserve: (charge, amount) =>
          Effect.sync(() => {
            books.reserved.push(amount)
            return charge
          }),
        settle: (settlement) => Effect.sync(() => void books.settled.push(settlement))
      })
    ),
    Layer.provide(Layer.succeed(ModelProvider, { models: [model], chat: saying(chat) })),
    Layer.provide(counting),
    Layer.provide(Layer.merge(NodeCrypto.layer, replica))
  )

const principal = idOf.principal(1)
const pieces = Schema.Array(Schema.String.check(Schema.isMaxLength(30))).check(Schema.isMaxLength(20))

/** The cost of an answer that is read to its end, or abandoned after its last token. */
const charge = (chat: Stream.Stream<ChatEvent>, how: "buffered" | "streamed" | "abandoned", n = 1) =>
  Effect.gen(function* () {
    const books: Books = { reserved: [], settled: [] }
    const program = Effect.gen(function* () {
      const service = yield* Inference
      const emit = how === "buffered" ? undefined : () => Effect.void
      const fiber = yield* Effect.forkChild(service.chat(principal, "r", requestOf({ n }), emit))
      if (how === "abandoned") {
        for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
      } else yield* Fiber.join(fiber)
    })
    yield* Effect.provide(program, inference(books, chat))
    expect(books.reserved).toEqual([BigInt(12 + 3 * 1_000 * n)])
    expect(books.settled).toHaveLength(1)
    return { tokens: books.settled[0]!.tokens, cost: books.settled[0]!.cost }
  })

describe("Inference", () => {
  it.effect.prop(
    "streamed, buffered and abandoned answers of the same text cost the same, at any cut",
    [pieces, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 })), Schema.Literals(["Text", "Refusal"])],
    ([words, at, _tag]) =>
      Effect.gen(function* () {
        const cut = Math.min(at, words.length)
        const events = words.map((text): ChatEvent => ({ _tag, index: 0, text }))
        const end: ChatEvent = { _tag: "Finish", index: 0, reason: "stop" }
        const prefix = events.slice(0, cut)
        const buffered = yield* charge(Stream.fromArray([...prefix, end]), "buffered")
        const streamed = yield* charge(Stream.fromIterable([...prefix, end], { chunkSize: 1 }), "streamed")
        const abandoned = yield* charge(
          Stream.concat(Stream.fromIterable(prefix, { chunkSize: 1 }), Stream.never),
          "abandoned"
        )
        expect(streamed).toEqual(buffered)
        expect(abandoned).toEqual(buffered)
        const length = prefix.reduce((sum, event) => sum + ("text" in event ? event.text.length : 0), 0)
        expect(buffered).toEqual({ tokens: { prompt: 12, completion: length }, cost: BigInt(12 + 3 * length) })
      })
  )

  it.effect("reasoning text and partial counts are charged to a caller that disconnects too", () =>
    Effect.gen(function* () {
      const thought = (text: string): ChatEvent => ({ _tag: "Thought", index: 0, text })
      const anew: ChatEvent = { _tag: "Anew" }
      const yes: ChatEvent = { _tag: "Text", index: 0, text: "yes" }
      const end: ChatEvent = { _tag: "Finish", index: 0, reason: "stop" }
      const running: ChatEvent = { _tag: "Running", promptTokens: 12, completionTokens: 500 }
      const usage: ChatEvent = { _tag: "Usage", promptTokens: 12, completionTokens: 600 }
      const left = (...events: ReadonlyArray<ChatEvent>) =>
        charge(Stream.concat(Stream.fromIterable(events, { chunkSize: 1 }), Stream.never), "abandoned")
      const heard = (how: "buffered" | "streamed", ...events: ReadonlyArray<ChatEvent>) =>
        charge(Stream.fromIterable([...events, end], { chunkSize: 1 }), how)
      const all = [thought("hmm "), thought("hmm"), yes]
      // The line break between the two texts is counted with them.
      for (const cost of [yield* left(...all), yield* heard("streamed", ...all), yield* heard("buffered", ...all)]) {
        expect(cost.tokens).toEqual({ prompt: 12, completion: 11 })
      }
      expect((yield* left(all[0]!)).tokens?.completion).toBe(4)
      // Another upstream answers in its place, with or without reasoning.
      expect((yield* left(all[0]!, running, anew, thought("o"))).tokens?.completion).toBe(1)
      expect((yield* left(all[0]!, running, anew)).tokens?.completion).toBe(0)
      expect((yield* heard("streamed", all[0]!, running, anew, yes)).tokens?.completion).toBe(3)
      expect((yield* left(yes, running)).tokens?.completion).toBe(500)
      expect((yield* heard("streamed", yes, running)).tokens?.completion).toBe(3)
      expect((yield* heard("streamed", ...all, running, usage)).tokens?.completion).toBe(600)
    })
  )

  it.effect("several choices cost at least the text of all of them, whichever of them the upstream counts", () =>
    Effect.gen(function* () {
      const said = ["one", "three"].map((text, index): ChatEvent => ({ _tag: "Text", index, text }))
      const ends = [0, 1].map((index): ChatEvent => ({ _tag: "Finish", index, reason: "stop" }))
      const told = (completionTokens: number): ChatEvent => ({ _tag: "Usage", promptTokens: 2, completionTokens })
      const costs = function* (prompt: number, completion: number, ...last: ReadonlyArray<ChatEvent>) {
        const events = Stream.fromIterable([...said, ...ends, ...last], { chunkSize: 1 })
        for (const how of ["buffered", "streamed", "abandoned"] as const) {
          const heard = how === "abandoned" ? Stream.concat(events, Stream.never) : events
          expect((yield* charge(heard, how, 2)).tokens).toEqual({ prompt, completion })
        }
      }
      yield* costs(2, 8, told(3))
      yield* costs(2, 8, told(5))
      yield* costs(2, 9, told(9))
      // Zero is a count of the prompt; a missing count is not.
      yield* costs(0, 8, { _tag: "Usage", promptTokens: 0, completionTokens: 0 })
      yield* costs(12, 8)
    })
  )

  it.effect("an upstream's count is accepted up to the reservation, and no further", () =>
    Effect.gen(function* () {
      for (const [n, told, completion] of [
        [1, 1_000, 1_000],
        [1, 1_001, 1_000],
        [2, 9_000, 2_000]
      ] as const) {
        const ends = Array.from({ length: n }, (_, index): ChatEvent => ({ _tag: "Finish", index, reason: "stop" }))
        const usage: ChatEvent = { _tag: "Usage", promptTokens: 13, completionTokens: told }
        expect((yield* charge(Stream.fromArray([...ends, usage]), "streamed", n)).tokens).toEqual({
          prompt: 12,
          completion
        })
      }
    })
  )

  it.effect("a silent model is given up, and nothing is charged", () =>
    Effect.gen(function* () {
      const books: Books = { reserved: [], settled: [] }
      const exit = yield* Effect.gen(function* () {
        const service = yield* Inference
        const fiber = yield* Effect.forkChild(Effect.exit(service.chat(principal, "r", requestOf({}))))
        yield* TestClock.adjust("20 minutes")
        return yield* Fiber.join(fiber)
      }).pipe(Effect.provide(inference(books, Stream.never)))
      expect(Exit.isFailure(exit) && String(exit.cause)).toContain("UpstreamFailed")
      expect(books.settled).toMatchObject([{ tokens: null, cost: 0n }])
    })
  )

  it.effect("clamps the answer to the request, the model and the rest of the context", () =>
    Effect.gen(function* () {
      for (const [body, allowed] of [
        [{ max_tokens: 10 }, 10],
        [{ max_tokens: 10, n: 3 }, 30],
        [{ max_completion_tokens: 2 ** 60 }, 1_000],
        [{ messages: [{ role: "user", content: "x".repeat(4_900) }] }, 93]
      ] as const) {
        const books: Books = { reserved: [], settled: [] }
        yield* Effect.gen(function* () {
          const service = yield* Inference
          yield* Effect.exit(service.chat(principal, "r", requestOf(body)))
        }).pipe(Effect.provide(inference(books, Stream.empty)))
        const prompt = "messages" in body ? 4_907 : 12
        expect(books.reserved).toEqual([BigInt(prompt + 3 * allowed)])
      }
    })
  )

  it.effect("a prompt that the full counter refuses is refused before anything is held", () =>
    Effect.gen(function* () {
      const books: Books = { reserved: [], settled: [] }
      const asked: Array<ReadonlyArray<unknown>> = []
      const crowded = Layer.succeed(Tokens, {
        ...Tokens.by(() => 0),
        count: (...given) => {
          asked.push(given)
          return Effect.fail(new UpstreamFailed({ reason: "overloaded" }))
        }
      })
      const refusal = yield* Effect.gen(function* () {
        return yield* Effect.flip((yield* Inference).chat(principal, "r", requestOf({})))
      }).pipe(Effect.provide(inference(books, Stream.never, crowded)))
      expect(refusal).toMatchObject({ _tag: "UpstreamFailed", reason: "overloaded" })
      // Counted in its workspace's turn, up to the model's context.
      expect(asked).toEqual([[principal.workspaceId, "hello", model.contextLength]])
      expect(books).toEqual({ reserved: [], settled: [] })
    })
  )
})

describe("countSliced", () => {
  it.effect.prop(
    "slices cover the text, are bounded, and cut no surrogate pair",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9_000 }))],
    ([n]) =>
      Effect.sync(() => {
        const text = `${"x".repeat(n % 5)}${"🎉".repeat(n)}`
        const slices: Array<string> = []
        countSliced(text, (slice) => slices.push(slice))
        expect(slices.join("")).toBe(text)
        expect(slices.every((slice) => slice.length <= SLICE_LENGTH + 1 && slice.isWellFormed())).toBe(true)
      })
  )
})

describe("fitSliced", () => {
  it.effect.prop(
    "is the longest prefix within the limit, for any slices, and cuts no surrogate pair",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5_000 })),
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6_000 }))
    ],
    ([n, limit]) =>
      Effect.sync(() => {
        const text = `${"x".repeat(n % 7)}${"🎉y".repeat(n)}`
        const count = (slice: string) => [...slice].length
        const fits = fitSliced(text, limit, { count, fit: (slice, most) => fitByHalves(slice, most, count) })
        expect(fits).toBe([...text].slice(0, limit).join(""))
      })
  )
})
