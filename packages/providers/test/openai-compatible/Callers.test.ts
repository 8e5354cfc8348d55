/** Callers that go away, that read slowly, and that must learn nothing of who answers them. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Logger } from "effect"
import type { ServerResponse } from "node:http"
import { inspect } from "node:util"
import {
  delta,
  events,
  greets,
  recordedServer,
  says,
  type Script,
  streams
} from "@sluice/testing/upstreams/RecordedServer"
import { ask, chatEntry, question, until, wordsOf, world } from "@sluice/testing/upstreams/UpstreamWorld"

const begun = events(delta({ role: "assistant", content: "Hello" }))

describe("callers that go away", () => {
  it.live("100 at once: each upstream is hung up on within a second", () =>
    Effect.gen(function* () {
      const endless: Script = (_, response) => {
        streams(response, events(delta({ role: "assistant", content: "on" })), false)
        const more = setInterval(() => response.write(events(delta({ content: "on " }))), 5)
        response.on("close", () => clearInterval(more))
      }
      const server = yield* recordedServer(endless)
      const models = yield* world([chatEntry([{ base_url: server.url, max_concurrency: 100 }])])
      let hearing = 0
      const callers = yield* Effect.forEach(Array.from({ length: 100 }), () => {
        let first = true
        const hear = () =>
          Effect.sync(() => {
            if (first) hearing++
            first = false
          })
        return Effect.forkChild(models.chat(models.models[0]!, question(), hear))
      })
      yield* until(() => hearing >= 100)
      yield* Fiber.interruptAll(callers)
      yield* until(() => server.hungUp >= 100 && server.sockets.size <= 0)
      // And there is room again: the next one is answered.
      server.script = greets
      expect((yield* ask(models)).reason).toBe(undefined)
    }).pipe(Effect.scoped, Effect.timeout("5 minutes"))
  )

  it.live("before the first word, and of whole answers, the same", () =>
    Effect.gen(function* () {
      const server = yield* recordedServer(() => {})
      const models = yield* world([chatEntry([{ base_url: server.url }])])
      for (const stream of [true, false]) {
        server.hungUp = 0
        const asked = yield* Effect.forkChild(ask(models, question({ stream })))
        yield* until(() => server.seen.length !== 0)
        server.seen.length = 0
        yield* Fiber.interrupt(asked)
        yield* until(() => server.hungUp >= 1)
      }
      yield* until(() => server.sockets.size <= 0)
    }).pipe(Effect.scoped, Effect.timeout("5 minutes"))
  )

  it.live("a failure of who hears ends the answer, and is told as it is", () =>
    Effect.gen(function* () {
      const server = yield* recordedServer((_, response) => streams(response, begun, false))
      const models = yield* world([chatEntry([{ base_url: server.url }])])
      const error = yield* Effect.flip(models.chat(models.models[0]!, question(), () => Effect.fail("enough" as const)))
      expect(error).toBe("enough")
      yield* until(() => server.sockets.size <= 0)
      expect(server.seen).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.timeout("5 minutes"))
  )

  it.live("the end of the provider hangs up on all", () =>
    Effect.gen(function* () {
      const server = yield* recordedServer((_, response) => streams(response, begun, false))
      const asked = yield* Effect.scoped(
        Effect.gen(function* () {
          const models = yield* world([chatEntry([{ base_url: server.url }])])
          const asked = yield* Effect.forkDetach(ask(models))
          yield* until(() => server.seen.length !== 0)
          return asked
        })
      )
      expect((yield* Fiber.join(asked)).reason).toBe("broken")
      yield* until(() => server.sockets.size <= 0)
    }).pipe(Effect.scoped, Effect.timeout("5 minutes"))
  )
})

describe("callers that read slowly", () => {
  it.live("hold the upstream up, and lose nothing", () =>
    Effect.gen(function* () {
      const chunk = Buffer.from(events(delta({ content: "x".repeat(1_000) })).repeat(16))
      const sent = { chunks: 0 }
      const MAX_CHUNKS = 4_000
      const flood: Script = (_, response: ServerResponse) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        const write = () => {
          while (sent.chunks < MAX_CHUNKS) {
            sent.chunks++
            if (!response.write(chunk)) return void response.once("drain", write)
          }
          response.end(events(delta({}, "stop"), "[DONE]"))
        }
        write()
      }
      const server = yield* recordedServer(flood)
      const models = yield* world([chatEntry([{ base_url: server.url }])])
      const gate = yield* Deferred.make<void>()
      let length = 0
      let most = 0
      const asked = yield* Effect.forkChild(
        models.chat(models.models[0]!, question(), (some) => {
          const size = wordsOf(some).length
          length += size
          most = Math.max(most, size)
          return Deferred.await(gate)
        })
      )
      // The upstream stands still while its buffers and ours are full, long before its end.
      for (let before = -1; sent.chunks === 0 || before !== sent.chunks;) {
        before = sent.chunks
        yield* Effect.sleep("100 millis")
      }
      expect(sent.chunks).toBeLessThan(MAX_CHUNKS / 4)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(asked)
      expect([sent.chunks, length]).toEqual([MAX_CHUNKS, MAX_CHUNKS * 16_000])
      // What is handed on at once is what was held, and that is bounded.
      expect(most).toBeLessThan(400_000)
    }).pipe(Effect.scoped, Effect.timeout("5 minutes"))
  )

  it.live("get no event that is larger than any can be, and no answer either", () =>
    Effect.gen(function* () {
      const server = yield* recordedServer((_, response) => streams(response, `data: ${"x".repeat(5_000_000)}`, false))
      const models = yield* world([chatEntry([{ base_url: server.url }])])
      expect((yield* ask(models)).reason).toBe("broken")
      server.script = (_, response) => says(response, 200, " ".repeat(40_000_000))
      expect((yield* ask(models, question({ stream: false }))).reason).toBe("broken")
      yield* until(() => server.sockets.size <= 0)
    }).pipe(Effect.scoped, Effect.timeout("5 minutes"))
  )
})

describe("who answers", () => {
  it.live("is not told, in answers, errors or logs: not its address, key, name, headers or words", () =>
    Effect.gen(function* () {
      const KEY = "sk-live-7f3e9a"
      const leaky = (port: number) => `upstream 127.0.0.1:${port} said no to ${KEY} at 10.1.2.3`
      const scripts = (port: number): ReadonlyArray<Script> => [
        greets,
        ...[400, 401, 404, 429, 500, 503].map(
          (status): Script =>
            (_, response) =>
              says(response, status, { error: { message: leaky(port) } }, { "x-host": leaky(port) })
        ),
        (_, response) => streams(response, events(delta({ content: "Hi" }), { error: { message: leaky(port) } })),
        (_, response) => says(response, 200, leaky(port)),
        (_, response) => says(response, 302, "", { location: `http://127.0.0.1:${port}/${KEY}` }),
        (_, response) => void response.socket?.destroy()
      ]
      const server = yield* recordedServer(greets)
      const logged: Array<string> = []
      const logger = Logger.make((options) => void logged.push(inspect(options, { depth: 12 })))
      for (const script of scripts(server.port)) {
        server.script = script
        const models = yield* world([chatEntry([{ base_url: server.url, api_key_env: "K", model: "secret-name" }])], {
          K: KEY
        })
        for (const stream of [true, false]) {
          const said: Array<unknown> = []
          const exit = yield* Effect.exit(
            models.chat(models.models[0]!, question({ stream }), (some) => Effect.sync(() => void said.push(some)))
          ).pipe(Effect.provide(Logger.layer([logger])))
          for (const text of [
            inspect([said, exit, models], { depth: 20, showHidden: true }),
            JSON.stringify([said, exit])
          ]) {
            for (const secret of [KEY, "7f3e9a", `${server.port}`, "127.0.0.1", "10.1.2.3", "secret-name", "x-host"]) {
              expect(text.includes(secret) ? [secret, text] : []).toEqual([])
            }
          }
        }
      }
      expect(server.seen[0]!.headers["authorization"]).toBe(`Bearer ${KEY}`)
      expect(server.seen[0]!.json.model).toBe("secret-name")
      // What is logged names the model and its fault, and is something.
      expect(logged.length).toBeGreaterThanOrEqual(18)
      for (const line of logged) {
        expect(line).toContain("An upstream failed")
        for (const secret of [KEY, `${server.port}`, "127.0.0.1", "10.1.2.3", "secret-name"]) {
          expect(line.includes(secret) ? [secret, line] : []).toEqual([])
        }
      }
    }).pipe(Effect.scoped)
  )
})
