/** What a request brings about itself says nothing of its server: one caller's bad requests take the model from nobody. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { MAX_FAILURES } from "@sluice/providers/openai-compatible/upstream/Breaker"
import { delta, events, greets, type Script, streams } from "@sluice/testing/upstreams/RecordedServer"
import { fails, over } from "./support/Servers.ts"
import { wordsOf } from "@sluice/testing/upstreams/UpstreamWorld"

const times = Array.from({ length: MAX_FAILURES + 1 })
const says =
  (...chunks: ReadonlyArray<unknown>): Script =>
  (_, response) =>
    streams(response, events(...chunks, "[DONE]"))
const tools = { tools: [{ type: "function", function: { name: "f" } }] }

describe("an error in the place of a stream's first word", () => {
  it.live("is a refusal where its number says so", () =>
    Effect.gen(function* () {
      const hello = delta({ role: "assistant", content: "" })
      for (const [name, ...chunks] of [
        ["vLLM", { error: { message: "bad schema", type: "BadRequestError", param: null, code: 400 } }],
        ["vLLM before", { object: "error", message: "bad schema", type: "BadRequestError", code: 400 }],
        [
          "SGLang",
          { error: { object: "error", message: "The input is too long", type: "BadRequestError", code: 400 } }
        ],
        ["TGI", { error: { message: "Input validation error: too long", http_status_code: 422 } }],
        ["LiteLLM", { error: { message: "x", type: "None", param: "None", code: "400" } }],
        ["a status of its own", { error: { message: "x", status: 400 } }],
        ["a text", { error: "no such field", code: 415 }],
        ["after a role", hello, { error: { code: 400 } }]
      ] as const) {
        const two = yield* over([says(...chunks), greets])
        for (const _ of times) expect([name, (yield* two.asked).reason]).toEqual([name, "refused"])
        // Nobody else is asked, and the same server answers the next one.
        expect([name, two.counts(), yield* two.states]).toEqual([name, [times.length, 0], ["closed", "closed"]])
        two.servers[0]!.script = greets
        expect([name, wordsOf((yield* two.asked).events)]).toEqual([name, "Hello there"])
      }
      const named = yield* over([
        (_, response) => streams(response, 'event: error\ndata: {"error":{"message":"x","code":400}}\n\n')
      ])
      expect((yield* named.asked).reason).toBe("refused")
    }).pipe(Effect.scoped)
  )

  it.live("is the server's where it says another, or says that it has too much to do", () =>
    Effect.gen(function* () {
      for (const [name, reason, error] of [
        ["a failure", "broken", { message: "CUDA out of memory", code: 500 }],
        ["no number", "broken", { message: "boom", code: { toString: 1 } }],
        ["TGI: a failure", "broken", { message: "Request failed during generation: x", http_status_code: 422 }],
        ["TGI: cut", "broken", { message: "Incomplete generation", http_status_code: 422 }],
        ["TGI: busy", "overloaded", { message: "Model is overloaded", http_status_code: 422 }],
        ["no status", "broken", { message: "boom", code: 42 }]
      ] as const) {
        const alone = yield* over([says({ error })])
        expect([name, (yield* alone.asked).reason]).toEqual([name, reason])
        const two = yield* over([says({ error }), greets])
        for (const _ of times) expect([name, (yield* two.asked).reason]).toEqual([name, undefined])
        expect([name, yield* two.states]).toEqual([name, ["open", "closed"]])
      }
    }).pipe(Effect.scoped)
  )

  it.live("means what an answer with its number would", () =>
    Effect.gen(function* () {
      for (const status of [401, 402, 403, 404, 408, 409, 429, 500, 501, 503, 504]) {
        for (const more of [{}, tools]) {
          const meaning = (script: Script) =>
            Effect.gen(function* () {
              const one = yield* over([script])
              const reasons = yield* Effect.forEach(times, () => Effect.map(one.asking(more), ({ reason }) => reason))
              return [status, reasons, yield* one.states]
            })
          const begun = delta({ role: "assistant", content: "" })
          expect(yield* meaning(says(begun, { error: { code: status } }))).toEqual(yield* meaning(fails(status)))
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("is a broken stream once something was said", () =>
    Effect.gen(function* () {
      for (const code of [400, 500]) {
        for (const said of [{ content: "Hello" }, { reasoning: "Hm" }]) {
          for (const more of [{}, tools]) {
            const one = yield* over([says(delta(said), { error: { message: "x", code } })])
            for (const _ of times.slice(1)) expect((yield* one.asking(more)).reason).toBe("broken")
            expect([code, yield* one.states, (yield* one.asked).reason]).toEqual([code, ["open"], "overloaded"])
          }
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("may be a server that has too much to do after a word as well", () =>
    Effect.gen(function* () {
      for (const [code, state] of [
        [429, "resting"],
        [503, "open"]
      ] as const) {
        const two = yield* over([says(delta({ content: "Hello" }), { error: { code } }), greets])
        expect([code, (yield* two.asked).reason, two.counts()]).toEqual([code, "overloaded", [1, 0]])
        for (const _ of times) yield* two.asked
        expect([code, yield* two.states]).toEqual([code, [state, "closed"]])
      }
    }).pipe(Effect.scoped)
  )
})

describe("a bare 500", () => {
  const json = { response_format: { type: "json_object" } }
  const schema = { response_format: { type: "json_schema", json_schema: { schema: { type: "not-a-type" } } } }

  it.live("is no mark where the request may have brought it about, and another server is asked all the same", () =>
    Effect.gen(function* () {
      for (const more of [json, schema, tools]) {
        const two = yield* over([fails(500), greets])
        for (const _ of times) expect((yield* two.asking(more)).reason).toBe(undefined)
        expect([two.counts(), yield* two.states]).toEqual([
          [times.length, times.length],
          ["closed", "closed"]
        ])
        // Nor does it forget the marks of others.
        for (const _ of times.slice(2)) yield* two.asked
        yield* two.asking(more)
        expect(yield* two.states).toEqual(["closed", "closed"])
        yield* two.asked
        expect(yield* two.states).toEqual(["open", "closed"])
      }
    }).pipe(Effect.scoped)
  )

  it.live("counts otherwise, as do other failures of such a request", () =>
    Effect.gen(function* () {
      for (const [script, more] of [
        [fails(500), {}],
        [fails(500), { response_format: { type: "text" }, tools: [] }],
        [fails(500, { "retry-after": "0" }), tools],
        [fails(502), tools],
        [fails(503), json],
        [(_, response) => void response.socket?.destroy(), schema]
      ] as ReadonlyArray<readonly [Script, object]>) {
        const two = yield* over([script, greets])
        for (const _ of times) yield* two.asking(more)
        expect(yield* two.states).toEqual(["open", "closed"])
      }
    }).pipe(Effect.scoped)
  )
})
