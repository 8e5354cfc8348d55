/** A stream that arrives in any pieces says the same; one that ends anywhere never looks complete. */
import { describe, expect, it } from "@effect/vitest"
import type { ChatEvent } from "@sluice/domain/models/ModelProvider"
import { Effect } from "effect"
import fc from "fast-check"
import { delta, events, hello, recordedServer, streams } from "@sluice/testing/upstreams/RecordedServer"
import { ask, chatEntry, endsOf, until, wordsOf, world } from "@sluice/testing/upstreams/UpstreamWorld"

const text = events(
  delta({ role: "assistant", content: "" }),
  delta({ content: "Grüße 👋🏽" }),
  delta({ content: " aus Köln\n\n" }),
  delta({}, "stop"),
  { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } },
  "[DONE]"
)
const bytes = Buffer.from(text)

/** Pieces of neighbouring events may come together: what counts is the sum. */
const summary = (all: ReadonlyArray<ChatEvent>) => [
  wordsOf(all),
  endsOf(all),
  all.filter(({ _tag }) => _tag === "Usage")
]

describe("a stream", () => {
  it.live("may be cut into pieces anywhere, within a character too", () =>
    Effect.gen(function* () {
      const server = yield* recordedServer((_, response) => response.end())
      const models = yield* world([chatEntry([{ base_url: server.url }])])
      const run = Effect.runPromiseWith(yield* Effect.context())
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(
            fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 }),
            async (cuts) => {
              server.script = (_, response) => {
                response.writeHead(200, { "content-type": "text/event-stream" })
                response.socket?.setNoDelay(true)
                const ends = [...cuts.sort((a, b) => a - b), bytes.length]
                const next = (at: number, from: number) => {
                  if (at === ends.length) return void response.end()
                  response.write(bytes.subarray(from, ends[at]), () => setImmediate(next, at + 1, ends[at]!))
                }
                next(0, 0)
              }
              const answer = await run(ask(models))
              expect(answer.reason).toBe(undefined)
              expect(summary(answer.events)).toEqual([
                "Grüße 👋🏽 aus Köln\n\n",
                ["stop"],
                [{ _tag: "Usage", promptTokens: 5, completionTokens: 7 }]
              ])
            }
          ),
          { numRuns: 150 }
        )
      )
    }).pipe(Effect.scoped)
  )

  it.live("that ends anywhere before its end is broken, in whichever way it ends", () =>
    Effect.gen(function* () {
      const complete = hello.indexOf('"finish_reason":"stop"')
      const whole = hello.indexOf("\n", complete)
      const server = yield* recordedServer((_, response) => response.end())
      for (let at = 1; at < hello.length; at += 13) {
        for (const how of ["ends", "is cut"] as const) {
          server.script = (_, response) => {
            response.writeHead(200, { "content-type": "text/event-stream" })
            response.write(hello.slice(0, at), () =>
              how === "ends" ? response.end() : response.socket?.resetAndDestroy()
            )
          }
          // A new one each time: after some cuts it would not be asked any more.
          const { events, reason } = yield* ask(yield* world([chatEntry([{ base_url: server.url }])]))
          // A reset throws away what was not read: such an answer may only be broken, or as complete as it was.
          if (reason === undefined) expect([at, at > whole, endsOf(events)]).toEqual([at, true, ["stop"]])
          else expect([at, reason, endsOf(events)]).toEqual([at, how === "ends" && at > whole ? "none" : reason, []])
          expect("Hello there".startsWith(wordsOf(events))).toBe(true)
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("that is complete is hung up on where its connection stays open all the same", () =>
    Effect.gen(function* () {
      const server = yield* recordedServer((_, response) => streams(response, hello, false))
      const answer = yield* ask(yield* world([chatEntry([{ base_url: server.url }])]))
      expect([answer.reason, wordsOf(answer.events)]).toEqual([undefined, "Hello there"])
      yield* until(() => server.hungUp === 1)
    }).pipe(Effect.scoped, Effect.timeout("5 minutes"))
  )

  it.live("may have hints before it, and fails by an event of that name, whatever that says", () =>
    Effect.gen(function* () {
      const server = yield* recordedServer((_, response) => {
        response.writeEarlyHints({ link: "</a>; rel=preload" }, () => streams(response, hello))
      })
      const models = yield* world([chatEntry([{ base_url: server.url }])])
      expect(wordsOf((yield* ask(models)).events)).toBe("Hello there")
      const named = hello.replace("data: [DONE]", 'event: error\ndata: {"message":"no"}\n\ndata: [DONE]')
      server.script = (_, response) => streams(response, named)
      expect((yield* ask(models)).reason).toBe("broken")
    }).pipe(Effect.scoped)
  )
})
