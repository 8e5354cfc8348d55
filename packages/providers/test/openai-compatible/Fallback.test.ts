/** Several servers behind one model: who is asked, and who is asked instead. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { createServer } from "node:net"
import {
  delta,
  events,
  greets,
  hello,
  recordedServer,
  says,
  type Script,
  streams
} from "@sluice/testing/upstreams/RecordedServer"
import { fails, inOrder, over } from "./support/Servers.ts"
import { ask, chatEntry, question, wordsOf, world } from "@sluice/testing/upstreams/UpstreamWorld"

describe("fallback", () => {
  it.live("goes to the next server where the first can't answer", () =>
    Effect.gen(function* () {
      for (const [name, script, reason] of [
        ["429", fails(429), "overloaded"],
        ["500", fails(500), "broken"],
        ["502", fails(502), "broken"],
        ["503 (llama.cpp loads its model)", fails(503), "overloaded"],
        ["401: the operator's key is wrong", fails(401), "denied"],
        ["402: no credit is left there", fails(402), "denied"],
        ["404: it has no such model", fails(404), "denied"],
        ["403: no right, or moderation", fails(403), "forbidden"],
        ["a redirect", fails(302, { location: "http://127.0.0.1:1/" }), "broken"],
        ["the connection ends", (_, response) => void response.socket?.destroy(), "broken"],
        ["garbage", (_, response) => void response.socket?.end("SSH-2.0-x\r\n\r\n"), "broken"],
        ["a page", (_, response) => says(response, 200, "<html>", { "content-type": "text/html" }), "broken"],
        ["compressed", (_, response) => says(response, 200, "x", { "content-encoding": "gzip" }), "broken"],
        [
          "a stream that breaks before its first word",
          (_, response) => streams(response, events(delta({ role: "assistant", content: "" }))),
          "broken"
        ],
        [
          "a stream that breaks after a thought",
          (_, response) => streams(response, events(delta({ reasoning_content: "hm" }))),
          "broken"
        ],
        [
          "an error before the first word",
          (_, response) => streams(response, events({ error: { code: 429 } })),
          "overloaded"
        ]
      ] as ReadonlyArray<readonly [string, Script, string]>) {
        const two = yield* over([script, greets])
        const answer = yield* two.asked
        expect([name, answer.reason, wordsOf(answer.events)]).toEqual([name, undefined, "Hello there"])
        const alone = yield* over([script])
        expect([name, (yield* alone.asked).reason]).toEqual([name, reason])
      }
    }).pipe(Effect.scoped)
  )

  it.live("does not blame a server that gives fewer answers than were asked for: others still get theirs", () =>
    Effect.gen(function* () {
      const server = yield* recordedServer(greets)
      const models = yield* world([chatEntry([{ base_url: server.url }])])
      for (let i = 0; i < 7; i++) expect((yield* ask(models, question({ n: 2 }))).reason).toBe("unserved")
      expect((yield* ask(models)).reason).toBeUndefined()
      expect((yield* models.health!).map(({ state }) => state)).toEqual(["closed"])
      // Nor one that moderates.
      server.script = fails(403)
      for (let i = 0; i < 7; i++) expect((yield* ask(models)).reason).toBe("forbidden")
      expect((yield* models.health!).map(({ state }) => state)).toEqual(["closed"])
    }).pipe(Effect.scoped)
  )

  it.live("also goes on where a whole answer is less than one, and hands nothing of that on", () =>
    Effect.gen(function* () {
      const said = (index: number, content: string, finish_reason = "stop", tool_calls?: unknown) => ({
        choices: [{ index, message: { content, tool_calls }, finish_reason }]
      })
      const both = { choices: [0, 1].flatMap((index) => said(index, "good").choices) }
      for (const [name, body, reason] of [
        ["one of two", said(0, "half"), "unserved"],
        ["a failure", said(0, "half", "error"), "broken"],
        ["a call of nothing", said(0, "half", "tool_calls", [{ id: "a", function: { arguments: "{}" } }]), "broken"]
      ] as const) {
        for (const stream of [false, true]) {
          const script: Script = (_, response) => says(response, 200, body)
          const two = yield* over([script, (_, response) => says(response, 200, both)])
          const answer = yield* two.asking({ n: 2, stream })
          expect([name, answer.reason, wordsOf(answer.events)]).toEqual([name, undefined, "goodgood"])
          const alone = yield* (yield* over([script])).asking({ n: 2, stream })
          expect([name, alone.reason, alone.events]).toEqual([name, reason, []])
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("asks three at most, one whose connection was lost once more, and none twice for another fault", () =>
    Effect.gen(function* () {
      const four = yield* over([fails(500), fails(500), fails(500), greets])
      expect([(yield* four.asked).reason, four.counts()]).toEqual(["broken", [1, 1, 1, 0]])
      const one = yield* over([fails(500)])
      expect([(yield* one.asked).reason, one.counts()]).toEqual(["broken", [1]])
      let first = true
      const lost = yield* over([
        (seen, response, request) => {
          if (!first) return greets(seen, response, request)
          first = false
          response.socket?.destroy()
        }
      ])
      expect([(yield* lost.asked).reason, lost.counts()]).toEqual([undefined, [2]])
      const always = yield* over([(_, response) => void response.socket?.destroy()])
      expect([(yield* always.asked).reason, always.counts()]).toEqual(["broken", [2]])
    }).pipe(Effect.scoped)
  )

  it.live("is for what the request is not to blame for", () =>
    Effect.gen(function* () {
      for (const status of [400, 413, 415, 422]) {
        const two = yield* over([fails(status), greets])
        expect([status, (yield* two.asked).reason, two.counts()]).toEqual([
          status,
          status === 413 ? "too_large" : "refused",
          [1, 0]
        ])
      }
    }).pipe(Effect.scoped)
  )

  it.live("ends with the first word that was handed on", () =>
    Effect.gen(function* () {
      const begun = hello.slice(0, hello.indexOf(" there"))
      const two = yield* over([(_, response) => streams(response, begun), greets])
      const answer = yield* two.asked
      expect([answer.reason, wordsOf(answer.events), two.counts()]).toEqual(["broken", "Hello", [1, 0]])
    }).pipe(Effect.scoped)
  )

  it.live("passes over a server that nobody listens on", () =>
    Effect.gen(function* () {
      const closed = yield* Effect.promise(
        () =>
          new Promise<number>((resolve) => {
            const probe = createServer().listen(0, "127.0.0.1", () => {
              const address = probe.address()
              probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
            })
          })
      )
      const server = yield* recordedServer(greets)
      const models = yield* world([
        chatEntry([{ base_url: `http://127.0.0.1:${closed}/v1` }, { base_url: server.url }])
      ])
      const asked = ask(models).pipe(Effect.provideService(Random.Random, inOrder))
      expect((yield* asked).reason).toBe(undefined)
      const alone = yield* world([chatEntry([{ base_url: `http://127.0.0.1:${closed}/v1` }])])
      expect((yield* ask(alone)).reason).toBe("broken")
    }).pipe(Effect.scoped)
  )

  it.live("also leaves a server that is silent for too long", () =>
    Effect.gen(function* () {
      const silent: Script = () => {}
      const two = yield* over([silent, greets], { timeout_seconds: 1 })
      expect((yield* two.asked).reason).toBe(undefined)
      const alone = yield* over([silent], { timeout_seconds: 1 })
      expect((yield* alone.asked).reason).toBe("timeout")
      const stops = yield* over([(_, response) => streams(response, hello.slice(0, 200), false)], {
        timeout_seconds: 1
      })
      expect((yield* stops.asked).reason).toBe("timeout")
    }).pipe(Effect.scoped)
  )
})

it.live("servers are asked in proportion to their weight", () =>
  Effect.gen(function* () {
    const [one, three] = yield* Effect.all([recordedServer(greets), recordedServer(greets)])
    const upstreams = [{ base_url: one.url }, { base_url: three.url, weight: 3 }]
    const models = yield* world([chatEntry(upstreams)])
    yield* Effect.forEach(Array.from({ length: 400 }), () => ask(models, question({ stream: false })), {
      concurrency: 8
    }).pipe(Random.withSeed("weights"))
    expect(one.seen.length + three.seen.length).toBe(400)
    expect(three.seen.length / one.seen.length).toBeGreaterThan(2.2)
    expect(three.seen.length / one.seen.length).toBeLessThan(4)
  }).pipe(Effect.scoped)
)
