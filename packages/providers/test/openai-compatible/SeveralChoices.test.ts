/** What servers send of two answers at once. llama.cpp, as recorded: its counts are of one of them, and both are billed. */
import { NodeCrypto } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Inference } from "@sluice/domain/inference/chat/Inference"
import { Metering } from "@sluice/domain/metering/Metering"
import { type Settlement } from "@sluice/domain/metering/Settlement"
import { type ChatEvent, ModelProvider } from "@sluice/domain/models/ModelProvider"
import { Tokens } from "@sluice/domain/models/Tokens"
import { Effect, Layer, Logger, Random } from "effect"
import { idOf, replica } from "@sluice/testing/fixtures/Workspace"
import { events, recordedServer, says, streams } from "@sluice/testing/upstreams/RecordedServer"
import { inOrder } from "./support/Servers.ts"
import { ask, chatEntry, question, type World, world } from "@sluice/testing/upstreams/UpstreamWorld"

const usage = (completion: number) => ({
  completion_tokens: completion,
  prompt_tokens: 3,
  total_tokens: completion + 3,
  prompt_tokens_details: { cached_tokens: 0 }
})
const chunk = (index: number, said: object, finish: string | null = null) => ({
  choices: [{ finish_reason: finish, index, delta: said }],
  created: 1,
  id: "chatcmpl-7Yq",
  model: "tiny",
  system_fingerprint: "b6000-1",
  object: "chat.completion.chunk"
})
const counts = (completion: number) => ({ ...chunk(0, {}), choices: [], usage: usage(completion) })

/** Each answer ends with a count of its own. */
const inPieces = events(
  chunk(0, { role: "assistant", content: null }),
  chunk(1, { role: "assistant", content: null }),
  chunk(0, { content: "a b" }),
  chunk(1, { content: "c d" }),
  chunk(0, { content: " e" }),
  chunk(0, {}, "stop"),
  counts(3),
  chunk(1, { content: " f g" }),
  chunk(1, {}, "stop"),
  counts(4),
  "[DONE]"
)
const answered = (index: number, content: string) => ({
  finish_reason: "stop",
  index,
  message: { role: "assistant", content }
})
/** The count is that of the first answer. */
const atOnce = { ...chunk(0, {}), choices: [answered(0, "a b e"), answered(1, "c d f g")], usage: usage(3) }

const toldBy = (choices: unknown, n: number) =>
  Effect.gen(function* () {
    const server = yield* recordedServer((_, response) => says(response, 200, { choices }))
    return yield* ask(yield* world([chatEntry([{ base_url: server.url }])]), question({ stream: false, n }))
  }).pipe(Effect.scoped)

/** Of each choice. */
const textsOf = (heard: ReadonlyArray<ChatEvent>): ReadonlyArray<string> => {
  const texts: Array<string> = []
  for (const event of heard) if (event._tag === "Text") texts[event.index] = (texts[event.index] ?? "") + event.text
  return texts
}

/** A token is a word here. */
const words = Layer.succeed(
  Tokens,
  Tokens.by((text) => text.split(/\s+/).filter((word) => word !== "").length)
)

/** The service over these models; what each request came to goes to `settled`. */
const serviceOf = (models: World, settled: Array<Settlement> = []) =>
  Inference.layerNoDeps.pipe(
    Layer.provide([
      Layer.succeed(Metering, {
        reserve: (charge) => Effect.succeed(charge),
        settle: (one) => Effect.sync(() => void settled.push(one))
      }),
      words,
      Layer.succeed(ModelProvider, models),
      NodeCrypto.layer,
      replica
    ])
  )

it.live("two answers of LocalAI that have one number are two, and its chunks of one number are one", () =>
  Effect.gen(function* () {
    for (const numbers of [[0, 0], [1, 1], [], [1, 0]]) {
      const choices = ["a b", "c d"].map((text, at) => ({ ...answered(0, text), index: numbers[at] }))
      const { events: heard, reason } = yield* toldBy(choices, 2)
      expect([numbers, reason, textsOf(heard)]).toEqual([
        numbers,
        undefined,
        numbers[0] === 1 && numbers[1] === 0 ? ["c d", "a b"] : ["a b", "c d"]
      ])
    }
    // Nobody asked for the second.
    const one = yield* toldBy([answered(0, "a b"), answered(0, "c d")], 1)
    expect([one.reason, textsOf(one.events)]).toEqual([undefined, ["a b"]])
    // Two pieces of one answer.
    const pieces = ["a", " b"].map((content) => ({ index: 0, delta: { content }, finish_reason: "stop" }))
    const stream = yield* toldBy(pieces, 1)
    expect([stream.reason, textsOf(stream.events)]).toEqual([undefined, ["a b"]])
  })
)

it.live("two answers of llama.cpp cost what both of them say, streamed and whole", () =>
  Effect.gen(function* () {
    const server = yield* recordedServer((seen, response) =>
      seen.json.stream === true ? streams(response, inPieces) : says(response, 200, atOnce)
    )
    const service = serviceOf(yield* world([chatEntry([{ base_url: server.url }])]))
    for (const stream of [true, false]) {
      const answer = yield* Effect.gen(function* () {
        const { chat } = yield* Inference
        return yield* chat(idOf.principal(1), "r", question({ stream, n: 2 }), () => Effect.void)
      }).pipe(Effect.provide(service))
      expect(answer.choices.map(({ text }) => text)).toEqual(["a b e", "c d f g"])
      expect([stream, answer.usage]).toMatchObject([stream, { promptTokens: 3, completionTokens: 7 }])
    }
  }).pipe(Effect.scoped)
)

it.live("two streamed answers that are cut when one of them is through have the last count on the way", () =>
  Effect.gen(function* () {
    const counted = (completion: number, ...of: Parameters<typeof chunk>) => ({
      ...chunk(...of),
      usage: usage(completion)
    })
    const cut = events(counted(1, 0, { content: "a" }), counted(1, 0, {}, "stop"), counted(3, 1, { content: "b c" }))
    const server = yield* recordedServer((_, response) => streams(response, cut))
    const { events: heard } = yield* ask(yield* world([chatEntry([{ base_url: server.url }])]), question({ n: 2 }))
    expect(heard.at(-1)).toEqual({ _tag: "Running", promptTokens: 3, completionTokens: 3 })
  }).pipe(Effect.scoped)
)

it.live("two streamed answers of which one is missing and nothing was said are asked of another server, or free", () =>
  Effect.gen(function* () {
    const silent = [chunk(0, { role: "assistant", content: "" })]
    const thoughts = [0, 1].map((index) => chunk(index, { reasoning_content: "a b c" }))
    for (const [name, ...said] of [
      ["the second is missing", ...silent, chunk(0, {}, "length"), counts(40), "[DONE]"],
      ["only the first thought", thoughts[0], chunk(0, {}, "length"), "[DONE]"],
      ["the second is cut", ...thoughts, chunk(0, {}, "length")],
      [
        "the second calls nothing",
        chunk(0, {}, "stop"),
        chunk(1, { tool_calls: [{ index: 0, function: { arguments: "{}" } }] }, "tool_calls"),
        "[DONE]"
      ]
    ] as const) {
      const servers = yield* Effect.forEach([events(...said), inPieces], (text) =>
        recordedServer((_, response) => streams(response, text))
      )
      const run = (count: number, settled: Array<Settlement> = []) =>
        Effect.gen(function* () {
          const models = yield* world([chatEntry(servers.slice(0, count).map(({ url }) => ({ base_url: url })))])
          const asked = Effect.flatMap(Inference, ({ chat }) =>
            chat(idOf.principal(1), "r", question({ n: 2 }), () => Effect.void)
          )
          return yield* Effect.provide(asked, serviceOf(models, settled))
        }).pipe(Effect.provide(Logger.layer([])), Effect.provideService(Random.Random, inOrder))
      const answer = yield* run(2)
      expect([name, answer.choices.map(({ text }) => text)]).toEqual([name, ["a b e", "c d f g"]])
      expect([name, answer.usage.completionTokens]).toEqual([name, 7])
      const settled: Array<Settlement> = []
      expect([name, (yield* Effect.exit(run(1, settled)))._tag]).toEqual([name, "Failure"])
      expect([name, settled]).toMatchObject([name, [{ tokens: null, cost: 0n }]])
    }
  }).pipe(Effect.scoped)
)
