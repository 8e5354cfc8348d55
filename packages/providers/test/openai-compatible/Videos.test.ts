/** Films of real servers: ordered once, and looked at where they are made. */
import { describe, expect, it } from "@effect/vitest"
import { progressOf } from "@sluice/providers/openai-compatible/calls/VideoCall"
import { Effect } from "effect"
import { says, type Script } from "@sluice/testing/upstreams/RecordedServer"
import { over, studio, task, told } from "./support/Studio.ts"

describe("a film", () => {
  it.live("is ordered as stock clients order, under the id that it has here", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true)])
      const image = { bytes: new Uint8Array([1, 2]), contentType: "image/png" }
      const reference = yield* provider.submit(model, { ...task, image })
      const { body, headers, path } = servers[0]!.seen[0]!
      expect([path, headers["idempotency-key"]]).toEqual(["/v1/videos", task.id])
      const type = { headers: { "content-type": `${headers["content-type"]}` } }
      const sent = yield* Effect.promise(() => new Response(new Uint8Array(body), type).formData())
      expect([sent.get("model"), sent.get("prompt"), sent.get("seconds"), sent.get("size")]).toEqual([
        "up",
        "a cat",
        "8",
        "64x64"
      ])
      expect(sent.get("input_reference")).toMatchObject({ type: "image/png", size: 2 })
      expect(yield* provider.look(model, reference)).toEqual({ _tag: "Filming", percent: 30 })
      yield* provider.remove(model, reference)
      expect(servers[0]!.seen.slice(1).map(({ method, path }) => `${method} ${path}`)).toEqual([
        "GET /v1/videos/video_1%2F%3F%23",
        "DELETE /v1/videos/video_1%2F%3F%23"
      ])
      expect(reference).not.toMatch(/127|http|up/)
    }).pipe(Effect.scoped)
  )

  it.live("is asked of the same server again, and of another one only where that has surely begun nothing", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true), studio(true), studio(true)])
      const references = yield* Effect.forEach([1, 2, 3, 4], () => provider.submit(model, task))
      expect(new Set(references).size).toBe(1)
      const first = servers.findIndex(({ seen }) => seen.length > 0)
      expect(servers[first]!.seen.length).toBe(4)
      // It may have begun: nobody else is asked.
      for (const script of [
        (_: unknown, response) => says(response, 500, {}),
        (_: unknown, response) => void response.socket?.destroy()
      ] satisfies ReadonlyArray<Script>) {
        servers[first]!.script = script
        expect(yield* told(provider.submit(model, task))).toBe("broken")
      }
      expect(servers.filter(({ seen }) => seen.length > 0).length).toBe(1)
      servers[first]!.script = (_, response) => says(response, 429, {})
      const elsewhere = yield* told(provider.submit(model, task))
      expect(elsewhere).toContain(":video_1")
      expect(elsewhere).not.toBe(references[0])
      // Who has it is asked for it, and nobody else.
      servers[first]!.script = (_, response) => says(response, 503, {})
      servers.forEach(({ seen }) => (seen.length = 0))
      expect(yield* told(provider.look(model, elsewhere))).toMatchObject({ _tag: "Filming" })
      expect(servers[first]!.seen).toEqual([])
    }).pipe(Effect.scoped)
  )

  it.live("is looked at and forgotten where it is made, whichever of them that is", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true), studio(true), studio(true)])
      const makers = new Set<number>()
      for (let n = 0; n < 20; n++) {
        servers.forEach(({ seen }) => (seen.length = 0))
        const reference = yield* provider.submit(model, { ...task, id: `${task.id}-${n}` })
        const maker = servers.findIndex(({ seen }) => seen.length > 0)
        makers.add(maker)
        yield* provider.look(model, reference)
        yield* provider.remove(model, reference)
        expect(servers.map(({ seen }) => seen.length)).toEqual(servers.map((_, at) => (at === maker ? 3 : 0)))
      }
      expect(makers.size).toBe(3)
    }).pipe(Effect.scoped)
  )

  it.live("that its server has forgotten has failed, and is forgotten", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true)])
      const reference = yield* provider.submit(model, task)
      for (const [status, progress] of [
        // Servers that share a list late do not know it yet.
        [404, { _tag: "Absent" }],
        [410, { _tag: "Failed", code: "video_generation_failed" }]
      ] as const) {
        servers[0]!.script = (_, response) => says(response, status, {})
        expect(yield* told(provider.look(model, reference))).toEqual(progress)
        expect(yield* told(provider.remove(model, reference))).toBe(undefined)
      }
      servers[0]!.script = (_, response) => says(response, 500, {})
      expect(yield* told(provider.look(model, reference))).toBe("broken")
      expect(yield* told(provider.remove(model, reference))).toBe("broken")
      // One of a server that is not in the catalog any more.
      expect(yield* told(provider.look(model, "0123456789ab:video_1"))).toBe("broken")
    }).pipe(Effect.scoped)
  )

  it.live("is completed when there is something to fetch", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true)])
      const reference = yield* provider.submit(model, task)
      const [server] = servers
      const looked = (content: Script) => {
        server!.seen.length = 0
        server!.script = (seen, response, request) =>
          seen.path.endsWith("/content")
            ? content(seen, response, request)
            : says(response, 200, { id: "video_1", status: "completed" })
        return told(provider.look(model, reference))
      }
      for (const ranges of [true, false]) expect(yield* looked(studio(ranges))).toEqual({ _tag: "Completed" })
      expect(server!.seen.map(({ headers, path }) => [path, headers.range])).toEqual([
        ["/v1/videos/video_1%2F%3F%23", undefined],
        ["/v1/videos/video_1%2F%3F%23/content", "bytes=0-0"]
      ])
      const nearly = { _tag: "Filming", percent: 99 }
      const gone = { _tag: "Failed", code: "video_generation_failed" }
      for (const [status, progress] of [
        // SGLang with cloud storage: "Please use the cloud URL".
        [400, gone],
        [403, gone],
        [410, gone],
        [415, gone],
        [422, gone],
        // Said to be made before it is where it is fetched from.
        [404, nearly],
        [409, nearly],
        [416, nearly],
        [423, nearly],
        [425, nearly],
        // Nobody goes where it leads.
        [302, gone],
        [307, gone],
        // These may pass.
        [405, "broken"],
        [401, "denied"],
        [500, "broken"],
        [503, "overloaded"]
      ] as const) {
        // Looked at again and again, it stays what it is, and the server is asked each time.
        for (let i = 0; i < 7; i++) {
          const found = yield* looked((_, response) => says(response, status, { detail: "Please use the cloud URL" }))
          expect([status, found]).toEqual([status, progress])
        }
      }
      // A page in place of a film, or a film that nobody could hand on.
      for (const headers of [
        {},
        { "content-type": "text/html" },
        { "content-type": "video/mp4", "content-encoding": "gzip" }
      ]) {
        const page = looked((_, response) => says(response, 200, { url: "https://s3.internal/x.mp4" }, headers))
        expect([headers, yield* page]).toEqual([headers, gone])
      }
      expect(yield* looked((_, response) => void response.socket?.end("nonsense\r\n\r\n"))).toBe("broken")
      // Not a byte of it is there yet; one is enough.
      const mp4 = { "content-type": "video/mp4" }
      const chunked = { "transfer-encoding": "chunked" }
      for (const [name, status, headers, body, progress] of [
        ["empty", 200, { "content-length": "0" }, "", nearly],
        ["empty, of any size", 200, chunked, "", nearly],
        ["no content", 204, {}, "", nearly],
        ["a part of nothing", 206, { "content-range": "bytes 0-0/0" }, "", nearly],
        ["of any size", 200, chunked, "x", { _tag: "Completed" }],
        ["a part of any size", 206, { "content-range": "bytes 0-0/*" }, "x", { _tag: "Completed" }]
      ] as const) {
        const found = yield* looked((_, response) => says(response, status, body, { ...mp4, ...headers }))
        expect([name, found]).toEqual([name, progress])
      }
    }).pipe(Effect.scoped)
  )

  it.live("goes on whatever word its server has for that", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true)])
      const reference = yield* provider.submit(model, task)
      for (const [status, more, tag] of [
        ["PREPARING", {}, "Waiting"],
        ["IN_PROGRESS", {}, "Filming"],
        ["Completed", {}, "Completed"],
        ["CANCELED", {}, "Failed"],
        ["odd", { error: { code: "x" } }, "Failed"]
      ] as const) {
        servers[0]!.script = (seen, response, request) =>
          seen.path.endsWith("/content")
            ? studio(true)(seen, response, request)
            : says(response, 200, { id: "video_1", status, ...more })
        expect(yield* told(provider.look(model, reference))).toMatchObject({ _tag: tag })
      }
    }).pipe(Effect.scoped)
  )
})

it("a film's progress is told in the port's words, whoever tells it", () => {
  for (const [told, progress] of [
    [{ status: "queued" }, { _tag: "Waiting" }],
    [{ status: "pending" }, { _tag: "Waiting" }],
    [
      { status: "in_progress", progress: 40 },
      { _tag: "Filming", percent: 40 }
    ],
    [{ status: "processing" }, { _tag: "Filming", percent: 0 }],
    [{ status: "completed" }, { _tag: "Completed" }],
    [{ status: "succeeded" }, { _tag: "Completed" }],
    [
      { status: "failed", error: { code: "moderation_blocked", message: "x" } },
      { _tag: "Failed", code: "moderation_blocked" }
    ],
    [
      { status: "failed", error: "x", error_details: { code: "moderation_blocked" } },
      { _tag: "Failed", code: "moderation_blocked" }
    ],
    [
      { status: "failed", error: { code: "oom" } },
      { _tag: "Failed", code: "video_generation_failed" }
    ],
    [{ status: "failed" }, { _tag: "Failed", code: "video_generation_failed" }],
    [{ status: "expired" }, { _tag: "Failed", code: "video_generation_failed" }],
    [{ error: "x" }, undefined],
    ["completed", undefined],
    [null, undefined]
  ] as const) {
    expect([told, progressOf(told)]).toEqual([told, progress])
  }
})
