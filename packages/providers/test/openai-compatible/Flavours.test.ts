/** What servers really send, sound and not: read as one thing, repaired where only one can be meant, else broken. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { asked } from "./support/Asked.ts"
import { delta, events, greets, hello, helloWhole, says, streams } from "@sluice/testing/upstreams/RecordedServer"

const streamed = (text: string, more: object = {}, end = true) =>
  asked((_, response) => streams(response, text, end), more)
const whole = (body: unknown, more: object = {}) =>
  asked((_, response) => says(response, 200, body), { stream: false, ...more })

const sound = { reason: undefined, words: "Hello there", ends: ["stop"], usage: [[5, 2]], calls: [], refused: "" }
const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }

describe("streams", () => {
  it.live("are read, however they are written", () =>
    Effect.gen(function* () {
      for (const [name, text] of [
        ["vLLM: a role first, the count last, [DONE]", hello],
        ["comments and blank lines", `: ping\n\n${hello.replace("data: ", ": OPENROUTER PROCESSING\n\n\n\ndata: ")}`],
        ["CRLF", hello.replaceAll("\n", "\r\n")],
        ["data: without a space", hello.replaceAll("data: ", "data:")],
        ["a mark of byte order", `\ufeff${hello}`],
        ["other fields", hello.replaceAll("data: ", "id: 1\nevent: message\nretry: 5\ndata: ")],
        ["no [DONE]", hello.replace("data: [DONE]\n\n", "")],
        ["no empty line at the end", hello.slice(0, -2)],
        ["words after [DONE]", hello + events(delta({ content: "more" }), "not JSON")],
        ["a first chunk without choices (Azure)", events({ choices: [], prompt_filter_results: [] }) + hello],
        [
          "LocalAI: zeros as usage of each chunk",
          hello.replaceAll(
            '"finish_reason":null',
            '"finish_reason":null}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0},"x":[{"y":1'
          )
        ],
        ["usage null on chunks", hello.replaceAll('"object":', '"usage":null,"object":')],
        [
          "usage on the last chunk",
          events(delta({ role: "assistant", content: "Hello there" }), delta({}, "stop", { usage }), "[DONE]")
        ],
        [
          "the last chunk with an empty delta and the count",
          events(delta({ content: "Hello there" }), delta({}, "stop"), delta({}, null, { usage }), "[DONE]")
        ],
        [
          "the end on the chunk of the last word (Ollama)",
          events(
            delta({ role: "assistant", content: "Hello" }),
            delta({ content: " there" }, "stop", { usage }),
            "[DONE]"
          )
        ],
        [
          "message for delta",
          events({ choices: [{ message: { content: "Hello there" }, finish_reason: "stop" }], usage })
        ],
        ["no finish_reason but [DONE]", events(delta({ content: "Hello there" }, null, { usage }), "[DONE]")],
        ["a finish_reason of its own", hello.replace('"stop"', '"eos_token"')],
        [
          "content in parts (Mistral)",
          hello.replace('"content":"Hello"', '"content":[{"type":"text","text":"Hello"}]')
        ],
        [
          "the count within the choice (Moonshot)",
          events(
            delta({ role: "assistant", content: "Hello there" }),
            { choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }] },
            "[DONE]"
          )
        ],
        ["reasoning beside it", events(delta({ reasoning_content: "hm", content: null })) + hello],
        ["choices nobody asked for", events({ choices: [{ index: 7, delta: { content: "no" } }] }) + hello]
      ] as const) {
        expect([name, yield* streamed(text)]).toEqual([name, sound])
      }
    })
  )

  it.live("count as the server counts: null and absent are none, zero words after a prompt are a count", () =>
    Effect.gen(function* () {
      const told = (more: object) => streamed(events(delta({ content: "Hi" }), delta({}, "stop", more), "[DONE]"))
      expect((yield* told({})).usage).toEqual([])
      expect((yield* told({ usage: null })).usage).toEqual([])
      expect((yield* told({ usage: {} })).usage).toEqual([])
      expect((yield* told({ usage: { prompt_tokens: 5, completion_tokens: 0 } })).usage).toEqual([[5, 0]])
      // LocalAI where its backend counts nothing: a prompt of no tokens can't be.
      const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
      expect((yield* told({ usage: zeros })).usage).toEqual([])
      expect(
        yield* streamed(hello.replace(/"prompt_tokens":5,"completion_tokens":2/, JSON.stringify(zeros).slice(1, -1)))
      ).toEqual({ ...sound, usage: [] })
      expect((yield* whole({ ...helloWhole, usage: zeros })).usage).toEqual([])
      expect((yield* told({ usage: { prompt_tokens: 0, completion_tokens: 2 } })).usage).toEqual([])
      // What was counted before the last word is no count of the answer.
      const early = events(delta({ content: "Hi" }, null, { usage }), delta({ content: " you" }), delta({}, "stop"))
      expect((yield* streamed(early)).usage).toEqual([])
    })
  )

  it.live("are broken where their end is missing or makes no sense, after the words that came", () =>
    Effect.gen(function* () {
      const begun = events(delta({ role: "assistant", content: "Hello" }))
      for (const [name, text, words] of [
        ["nothing", "", ""],
        ["[DONE] alone", events("[DONE]"), ""],
        ["an end without finish_reason and [DONE]", begun, "Hello"],
        ["an error event", begun + events({ error: { message: "CUDA out of memory", code: 500 } }), "Hello"],
        ["an error as a text", begun + events({ error: "boom" }), "Hello"],
        ["vLLM's old error object", begun + events({ object: "error", message: "x", code: 40303 }), "Hello"],
        ["an event named error", `${begun}event: error\ndata: {}\n\n`, "Hello"],
        ["an end that says failed", begun + events(delta({}, "error")), "Hello"],
        ["no JSON", begun + events("{oops"), "Hello"],
        ["a value that is no object", begun + events([1]), "Hello"],
        ["a page", "<html><body>Bad gateway 10.0.0.7</body></html>", ""]
      ] as const) {
        expect([name, yield* streamed(text)]).toMatchObject([name, { reason: "broken", words }])
      }
    })
  )

  it.live("of several choices need all their ends", () =>
    Effect.gen(function* () {
      const two = [0, 1].map((index) => ({
        choices: [{ index, delta: { content: `${index}` }, finish_reason: "stop" }]
      }))
      expect(yield* streamed(events(...two, "[DONE]"), { n: 2 })).toMatchObject({ reason: undefined, words: "01" })
      // Ollama, LM Studio and others don't know `n`: no fault of theirs, and asked again they would give one again.
      expect(yield* streamed(events(two[0], "[DONE]"), { n: 2 })).toMatchObject({ reason: "unserved" })
      expect(yield* streamed(events(two[1], "[DONE]"), { n: 2 })).toMatchObject({ reason: "broken" })
      expect(yield* streamed(events(two[0]), { n: 2 })).toMatchObject({ reason: "broken" })
    })
  )

  it.live("may come where a whole answer was asked for, and the other way round", () =>
    Effect.gen(function* () {
      expect(yield* streamed(hello, { stream: false })).toEqual(sound)
      expect(yield* whole(helloWhole, { stream: true })).toEqual(sound)
    })
  )
})

it.live("a refusal comes in pieces of its own", () =>
  Effect.gen(function* () {
    const text = events(
      delta({ role: "assistant", content: "", refusal: null }),
      delta({ refusal: "I " }),
      delta({ refusal: "won't." }),
      delta({}, "stop", { usage }),
      "[DONE]"
    )
    expect(yield* streamed(text)).toEqual({ ...sound, words: "", refused: "I won't." })
  })
)

describe("whole answers", () => {
  it.live("are read, repaired or broken", () =>
    Effect.gen(function* () {
      expect(yield* asked(greets, { stream: false })).toEqual(sound)
      const one = (message: unknown, more: object = {}) => ({ choices: [{ index: 0, message, ...more }], usage })
      expect(yield* whole(one({ content: "Hello there" }))).toEqual(sound)
      // What a model says instead of an answer is no content, or helpers for structured output read it as JSON.
      const refused = yield* whole(one({ content: null, refusal: "I won't" }, { finish_reason: "stop" }))
      expect(refused).toEqual({ ...sound, words: "", refused: "I won't" })
      expect((yield* whole(one({ content: "Hello there", refusal: null }))).refused).toBe("")
      for (const [name, body] of [
        ["a page with status 200", "<!doctype html><title>nginx</title>"],
        ["nothing", ""],
        ["an error with status 200", { error: { message: "no model at http://10.0.0.7" } }],
        ["no choices", { choices: [] }],
        ["choices of nothing", { choices: [null] }],
        ["a list", []],
        ["half of it", JSON.stringify(helloWhole).slice(0, -20)]
      ] as const) {
        expect([name, yield* whole(body)]).toMatchObject([name, { reason: "broken", words: "", ends: [] }])
      }
    })
  )
})
