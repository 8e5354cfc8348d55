/** The tokens of an answer as servers tell them: where they were asked for, and those of its words alone. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  delta,
  events,
  greets,
  recordedServer,
  says,
  type Script,
  streams
} from "@sluice/testing/upstreams/RecordedServer"
import { over } from "./support/Servers.ts"
import { ask, chatEntry, question, wordsOf, world } from "@sluice/testing/upstreams/UpstreamWorld"

it.live("the bytes of a token are those that the server tells, where they are bytes", () =>
  Effect.gen(function* () {
    const half = "\ufffd"
    for (const [bytes, told] of [
      [
        [240, 159, 152],
        [240, 159, 152]
      ],
      [null, undefined],
      [undefined, undefined],
      [[], undefined],
      [[256], undefined],
      [[1.5], undefined],
      [["1"], undefined],
      [Array.from({ length: 1_025 }, () => 65), undefined],
      ["bytes", undefined]
    ] as const) {
      const one = { token: half, logprob: -0.5, bytes }
      const content = [{ ...one, top_logprobs: [one] }]
      const text = events(
        { choices: [{ delta: { content: half }, logprobs: { content } }] },
        delta({}, "stop"),
        "[DONE]"
      )
      const server = yield* recordedServer((_, response) => streams(response, text))
      const models = yield* world([chatEntry([{ base_url: server.url }])])
      const answer = yield* ask(models, question({ logprobs: true, top_logprobs: 1 }))
      const [said] = answer.events.flatMap((event) => (event._tag === "Text" ? (event.tokens ?? []) : []))
      expect([bytes, said?.bytes, said?.top[0]?.bytes]).toEqual([bytes, told, told])
    }
  }).pipe(Effect.scoped)
)

it.live("the tokens of an answer are told where they were asked for, and no more of them", () =>
  Effect.gen(function* () {
    const chance = (token: string, logprob: unknown) => ({ token, logprob, bytes: null })
    const said = (token: string) => ({
      ...chance(token, -0.5),
      top_logprobs: [chance(token, -0.5), chance("other", -1), chance("third", -2)]
    })
    const told = (content: unknown) => [{ index: 0, delta: { content: "Hello" }, logprobs: { content } }]
    const text = events(
      { choices: told([said("He"), said("llo")]) },
      { choices: told([chance("x", "high"), null, chance("y", -3)]) },
      { choices: told(null) },
      delta({}, "stop"),
      "[DONE]"
    )
    const heard = (more: object) =>
      Effect.gen(function* () {
        const server = yield* recordedServer((_, response) => streams(response, text))
        const answer = yield* ask(yield* world([chatEntry([{ base_url: server.url }])]), question(more))
        return answer.events.flatMap((event) => (event._tag === "Text" ? [event.tokens] : []))
      }).pipe(Effect.scoped)
    const top = [
      { token: "He", logprob: -0.5 },
      { token: "other", logprob: -1 }
    ]
    const [first, second, third] = yield* heard({ logprobs: true, top_logprobs: 2 })
    expect(first?.[0]).toEqual({ token: "He", logprob: -0.5, top })
    expect(second).toEqual([{ token: "y", logprob: -3, top: [] }])
    expect(third).toBe(undefined)
    expect((yield* heard({ logprobs: true }))[0]?.map(({ top }) => top)).toEqual([[], []])
    expect(yield* heard({})).toEqual([undefined, undefined, undefined])
  })
)

const chance = (token: string) => ({ token, logprob: -0.1, bytes: null, top_logprobs: [] })
const logprobs = (...tokens: ReadonlyArray<string>) => ({ content: tokens.map(chance) })
const piece = (said: object, ...tokens: ReadonlyArray<string>) => ({
  choices: [{ index: 0, delta: said, logprobs: logprobs(...tokens), finish_reason: null }]
})
/** Pieces of text, each with its tokens. */
const toldBy = (script: Script) =>
  Effect.gen(function* () {
    const { asking } = yield* over([script])
    const { events } = yield* asking({ logprobs: true })
    return events.flatMap((event) =>
      event._tag === "Text" ? [[event.text, ...(event.tokens ?? []).map(({ token }) => token)]] : []
    )
  }).pipe(Effect.scoped)

const thinks = [
  piece({ role: "assistant", content: "" }),
  piece({ reasoning: "Let me" }, "Let", " me"),
  piece({ reasoning: " see", content: "" }, " see"),
  piece({}, "</think>")
]

it.live("the tokens of thoughts in a stream stay with the thoughts (vLLM, Ollama)", () =>
  Effect.gen(function* () {
    const said = [
      // The end of the thoughts and the first word at once.
      piece({ reasoning: ".", content: "It is" }, ".", "</think>", "It", " is"),
      piece({ content: " Paris" }, " Paris"),
      // Half of a character.
      piece({ content: "" }, "\ufffd"),
      piece({ content: "👋" }, "\ufffd"),
      delta({}, "stop")
    ]
    expect(yield* toldBy((_, response) => streams(response, events(...thinks.slice(1), ...said, "[DONE]")))).toEqual([
      ["It is"],
      [" Paris", " Paris"],
      ["", "\ufffd"],
      ["👋", "\ufffd"]
    ])
  })
)

it.live("a server that fails while it thinks is no answer: another one is asked", () =>
  Effect.gen(function* () {
    const two = yield* over([(_, response) => streams(response, events(...thinks.slice(1))), greets])
    const { events: heard, reason } = yield* two.asking({ logprobs: true })
    expect([reason, wordsOf(heard), two.counts()]).toEqual([undefined, "Hello there", [1, 1]])
  }).pipe(Effect.scoped)
)

it.live("of a whole answer with thoughts only the tokens of its words are told, where they can be told apart", () =>
  Effect.gen(function* () {
    for (const [content, tokens, told] of [
      ["A b", ["Let", " me", "</think>", "A", " b"], ["A", " b"]],
      ["A b", ["A", " b", "</think>", "A", " b", "<|im_end|>"], ["A", " b"]],
      ["A b", ["Let", " me", "</think>", "A", " ", "b", "", ""], ["A", " ", "b", "", ""]],
      // They don't fit.
      ["A b", ["Let", " me", "</think>A", " b"], []],
      ["A b", ["Let", " me"], []],
      ["A b", ["b"], []],
      ["A b", [], []]
    ] as const) {
      const message = { role: "assistant", reasoning: "Let me", content }
      const body = { choices: [{ message, logprobs: logprobs(...tokens), finish_reason: "stop" }] }
      const answer = yield* toldBy((_, response) => says(response, 200, body))
      expect([tokens, answer]).toEqual([tokens, [[content, ...told]]])
    }
    // Thoughts and a call are no words.
    const called = { reasoning: "Let me", content: null, tool_calls: [{ id: "a", function: { name: "f" } }] }
    const body = { choices: [{ message: called, logprobs: logprobs("Let", " me"), finish_reason: "stop" }] }
    expect(yield* toldBy((_, response) => says(response, 200, body))).toEqual([])
  })
)
