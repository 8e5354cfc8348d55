/** How servers say that an answer ended: in words of their own, also where it broke off with status 200. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { delta, events, greets, says, type Script, streams } from "@sluice/testing/upstreams/RecordedServer"
import { over } from "./support/Servers.ts"
import { endsOf, wordsOf } from "@sluice/testing/upstreams/UpstreamWorld"

/** An answer that ends as said, streamed and whole. */
const ends =
  (said: object, end: object): Script =>
  (seen, response) =>
    seen.json.stream === true
      ? streams(
          response,
          events(
            delta(said),
            { choices: [{ index: 0, delta: { content: "" }, finish_reason: null, ...end }] },
            "[DONE]"
          )
        )
      : says(response, 200, { choices: [{ index: 0, message: said, finish_reason: null, ...end }] })

it.live("an end in another server's word is one of the four", () =>
  Effect.gen(function* () {
    for (const [word, reason] of [
      ["max_tokens", "length"],
      ["model_length", "length"],
      // z.AI.
      ["model_context_window_exceeded", "length"],
      ["sensitive", "content_filter"],
      ["eos", "stop"]
    ] as const) {
      for (const stream of [true, false]) {
        const { asking } = yield* over([ends({ content: "Hi" }, { finish_reason: word })])
        const { events, reason: failed } = yield* asking({ stream })
        expect([word, failed, wordsOf(events), endsOf(events)]).toEqual([word, undefined, "Hi", [reason]])
      }
    }
  }).pipe(Effect.scoped)
)

it.live(
  "an answer that says that it was broken off is broken, and asked of another server while nothing was said",
  () =>
    Effect.gen(function* () {
      for (const [name, end, reason] of [
        ["z.AI", { finish_reason: "network_error" }, "broken"],
        ["DeepSeek", { finish_reason: "insufficient_system_resource" }, "broken"],
        ["OpenRouter", { error: { code: 502, message: "Provider disconnected" } }, "broken"],
        ["OpenRouter at its end", { error: { code: 502, message: "x" }, finish_reason: "error" }, "broken"],
        ["OpenRouter: busy", { error: { code: 429, message: "x" }, finish_reason: "error" }, "overloaded"]
      ] as const) {
        for (const said of [{ content: "" }, { content: "The answer is" }]) {
          for (const stream of [true, false]) {
            const script = ends(said, end)
            const alone = yield* (yield* over([script])).asking({ stream })
            const told = stream ? said.content : ""
            const what = [name, stream, told]
            expect([...what, alone.reason, wordsOf(alone.events), endsOf(alone.events)]).toEqual([
              ...what,
              reason,
              told,
              []
            ])
            const two = yield* (yield* over([script, greets])).asking({ stream })
            expect([...what, two.reason, wordsOf(two.events)]).toEqual(
              told === "" ? [...what, undefined, "Hello there"] : [...what, reason, told]
            )
          }
        }
      }
    }).pipe(Effect.scoped)
)

it.live("an error beside an answer means what its number does, and one that says nothing is none", () =>
  Effect.gen(function* () {
    for (const stream of [true, false]) {
      const two = yield* over([ends({ content: "" }, { error: { code: 400, message: "x" } }), greets])
      expect([(yield* two.asking({ stream })).reason, two.counts()]).toEqual(["refused", [1, 0]])
      for (const end of [{ error: null }, { error: "" }, { error: { code: 200 }, finish_reason: "stop" }]) {
        const { asking } = yield* over([ends({ content: "Hi" }, { finish_reason: "stop", ...end })])
        const { events, reason } = yield* asking({ stream })
        expect([end, reason, wordsOf(events), endsOf(events)]).toEqual([end, undefined, "Hi", ["stop"]])
      }
    }
  }).pipe(Effect.scoped)
)
