/** What Gemini puts on a call and wants back with it: to the caller and back again, streamed and whole, and for no money. */
import { NodeCrypto } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Inference } from "@sluice/domain/inference/chat/Inference"
import { Metering } from "@sluice/domain/metering/Metering"
import { type ChatEvent, ModelProvider } from "@sluice/domain/models/ModelProvider"
import { Tokens } from "@sluice/domain/models/Tokens"
import { Effect, Layer } from "effect"
import { idOf, replica } from "@sluice/testing/fixtures/Workspace"
import { delta, events, recordedServer, says, streams } from "@sluice/testing/upstreams/RecordedServer"
import { chatEntry, question, world } from "@sluice/testing/upstreams/UpstreamWorld"

const signed = { google: { thought_signature: "CiQB0eLkSIG+/=", parts: [1, null, { a: "ü" }] } }
const tools = [{ type: "function", function: { name: "f" } }]
const call = (extra: unknown) => ({
  index: 0,
  id: "a",
  type: "function",
  function: { name: "f", arguments: '{"n":1}' },
  ...(extra === undefined ? {} : { extra_content: extra })
})

const words = Layer.succeed(
  Tokens,
  Tokens.by((text) => text.length)
)
const books = Layer.succeed(Metering, { reserve: (charge) => Effect.succeed(charge), settle: () => Effect.void })

/** What is handed on of an answer with this call, at its end and on the way, and what the server was sent. */
const answered = (calls: ReadonlyArray<object>, more: object) =>
  Effect.gen(function* () {
    const server = yield* recordedServer((seen, response) => {
      if (seen.json.stream !== true) {
        return says(response, 200, {
          choices: [{ message: { content: null, tool_calls: calls }, finish_reason: "stop" }]
        })
      }
      const chunks = calls.map((one) => delta({ tool_calls: [one] }))
      streams(response, events(...chunks, delta({}, "tool_calls"), "[DONE]"))
    })
    const models = yield* world([chatEntry([{ base_url: server.url }])])
    const service = Inference.layerNoDeps.pipe(
      Layer.provide([books, words, Layer.succeed(ModelProvider, models), NodeCrypto.layer, replica])
    )
    const { chat } = yield* Effect.provide(Inference, service)
    const emitted: Array<ChatEvent> = []
    const emit = (_: unknown, some: ReadonlyArray<ChatEvent>) => Effect.sync(() => void emitted.push(...some))
    const { choices, usage } = yield* chat(idOf.principal(1), "r", question({ tools, ...more }), emit)
    const extras = emitted.flatMap((event) => (event._tag === "ToolCall" ? [event.extra] : []))
    return { whole: choices[0]!.calls.map(({ extra }) => extra), extras, usage, sent: server.seen[0]!.json.messages }
  }).pipe(Effect.scoped)

it.live("goes to the caller with its call, and counts for nothing", () =>
  Effect.gen(function* () {
    const plain = yield* answered([call(undefined)], { stream: false })
    expect(plain.whole).toEqual([undefined])
    for (const stream of [true, false]) {
      const told = yield* answered([call(signed)], { stream })
      expect([stream, told.whole, told.extras]).toEqual([stream, [signed], [signed]])
      expect(told.usage).toEqual(plain.usage)
    }
    // Before the name of its call.
    const early = { index: 0, id: "a", extra_content: signed }
    expect((yield* answered([early, call(undefined)], { stream: true })).whole).toEqual([signed])
  })
)

it.live("is an object of 16,384 bytes at most, or not there", () =>
  Effect.gen(function* () {
    const nested = (depth: number): unknown => JSON.parse('{"a":'.repeat(depth) + "1" + "}".repeat(depth))
    // {"a":"..."}
    const most = { a: "x".repeat(16_376) }
    for (const extra of [most, nested(32)]) {
      expect((yield* answered([call(extra)], { stream: true })).whole).toEqual([extra])
    }
    for (const extra of ["text", 5, null, [signed], { a: `${most.a}x` }, { a: "ü".repeat(8_189) }, nested(33)]) {
      expect((yield* answered([call(extra)], { stream: true })).whole).toEqual([undefined])
    }
  })
)

it.live("comes back with the call, and counts for nothing", () =>
  Effect.gen(function* () {
    const { index: _, ...said } = call(signed)
    const { index: __, ...unsigned } = call(undefined)
    const asking = (...calls: ReadonlyArray<object>) => {
      const answers = calls.map(() => ({ role: "tool", tool_call_id: "a", content: "42" }))
      return { messages: [{ role: "user", content: "Hi" }, { role: "assistant", tool_calls: calls }, ...answers] }
    }
    const plain = yield* answered([call(undefined)], asking(unsigned, unsigned))
    expect(plain.sent[1].tool_calls).toEqual([unsigned, unsigned])
    const told = yield* answered([call(undefined)], asking(unsigned, said))
    expect(told.sent[1].tool_calls).toEqual([unsigned, said])
    expect(told.usage).toEqual(plain.usage)
    const large = { ...unsigned, extra_content: { a: "x".repeat(20_000) } }
    expect((yield* answered([call(undefined)], asking(large, large))).sent).toEqual(plain.sent)
  })
)
