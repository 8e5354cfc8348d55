/** Films of real servers: ordered once, looked at where they are made, and read in parts. */
import { describe, expect, it } from "@effect/vitest"
import { within } from "@sluice/providers/openai/VideoBytes"
import { progressOf } from "@sluice/providers/openai/VideoCall"
import { Effect, Logger, Stream } from "effect"
import fc from "fast-check"
import { kinds } from "./support/Kinds.ts"
import { recordedServer, says, type Script } from "./support/RecordedServer.ts"
import { until, world } from "./support/World.ts"

const FILM = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251))

/** An upstream with films; `ranges`: whether it gives parts. */
const studio =
  (ranges: boolean): Script =>
  (seen, response) => {
    if (seen.method === "POST") return says(response, 200, { id: "video_1/?#", object: "video", status: "queued" })
    if (seen.method === "DELETE") return says(response, 200, { deleted: true })
    if (!seen.path.endsWith("/content")) return says(response, 200, { status: "in_progress", progress: 30 })
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(seen.headers.range ?? "") ?? []
    if (!ranges || start === undefined) {
      response.writeHead(200, { "content-type": "video/mp4", "content-length": FILM.length })
      return void response.end(FILM)
    }
    response.writeHead(206, {
      "content-type": "video/mp4",
      "content-range": `bytes ${start}-${end}/${FILM.length}`
    })
    response.end(FILM.subarray(Number(start), Number(end) + 1))
  }

const over = (scripts: ReadonlyArray<Script>) =>
  Effect.gen(function* () {
    const servers = yield* Effect.forEach(scripts, recordedServer)
    const models = yield* world([kinds(servers.map(({ url }) => ({ base_url: url, model: "up" }))).video])
    const provider = models.videos!
    return { servers, provider, model: provider.models[0]! }
  })

const task = {
  id: "01a1fe5d-0000-7000-8000-000000000001",
  prompt: "a cat",
  size: "64x64",
  seconds: 8,
  picture: undefined
}
const told = <A>(effect: Effect.Effect<A, { readonly reason: string }>): Effect.Effect<A | string> =>
  Effect.match(effect, { onFailure: ({ reason }) => reason, onSuccess: (value) => value }).pipe(
    Effect.provide(Logger.layer([]))
  )

describe("a film", () => {
  it.live("is ordered as stock clients order, under the id that it has here", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true)])
      const picture = { bytes: new Uint8Array([1, 2]), contentType: "image/png" }
      const reference = yield* provider.submit(model, { ...task, picture })
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

  it.live("that its server has forgotten has failed, and is forgotten", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true)])
      const reference = yield* provider.submit(model, task)
      for (const status of [404, 410]) {
        servers[0]!.script = (_, response) => says(response, status, {})
        expect(yield* told(provider.look(model, reference))).toEqual({
          _tag: "Failed",
          code: "video_generation_failed"
        })
        expect(yield* told(provider.remove(model, reference))).toBe(undefined)
      }
      servers[0]!.script = (_, response) => says(response, 500, {})
      expect(yield* told(provider.look(model, reference))).toBe("broken")
      expect(yield* told(provider.remove(model, reference))).toBe("broken")
      // One of a server that is not in the catalog any more.
      expect(yield* told(provider.look(model, "0123456789ab:video_1"))).toBe("broken")
    }).pipe(Effect.scoped)
  )

  it.live("is read whole or in parts, also from a server that gives no parts", () =>
    Effect.gen(function* () {
      for (const ranges of [true, false]) {
        const { model, provider } = yield* over([studio(ranges)])
        const reference = yield* provider.submit(model, task)
        for (const [range, start, end] of [
          [undefined, 0, 100_000],
          [{ start: 0, end: 0 }, 0, 1],
          [{ start: 10, end: undefined }, 10, 100_000],
          [{ start: 50_000, end: 59_999 }, 50_000, 60_000],
          [{ start: 99_999, end: 500_000 }, 99_999, 100_000],
          [{ suffix: 5 }, 99_995, 100_000],
          [{ suffix: 500_000 }, 0, 100_000],
          [{ start: 100_000, end: undefined }, 100_000, 100_000]
        ] as const) {
          const read = yield* provider.read(model, reference, range)
          expect([ranges, range, read.size, read.start, read.end]).toEqual([ranges, range, FILM.length, start, end])
          const parts = yield* Stream.runCollect(read.bytes)
          expect(Buffer.concat(parts).equals(FILM.subarray(start, end))).toBe(true)
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("that is an error with status 200, has no size, or ends too early is broken", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true)])
      const reference = yield* provider.submit(model, task)
      const read = Effect.flatMap(provider.read(model, reference, undefined), ({ bytes }) => Stream.runDrain(bytes))
      for (const script of [
        (_: unknown, response) => says(response, 200, { error: "expired" }, { "content-type": "application/json" }),
        (_: unknown, response) => {
          response.writeHead(200, { "content-type": "video/mp4" })
          response.end("no length")
        },
        (seen, response) => {
          const range = `bytes ${seen.headers.range?.slice(6)}/1000`
          response.writeHead(206, { "content-type": "video/mp4", "content-range": range })
          response.end("short")
        }
      ] satisfies ReadonlyArray<Script>) {
        servers[0]!.script = script
        expect(yield* told(read)).toBe("broken")
      }
    }).pipe(Effect.scoped)
  )

  it.live("is not read further than its reader goes", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true)])
      const reference = yield* provider.submit(model, task)
      const SIZE = 1_000_000_000
      servers[0]!.script = (seen, response) => {
        response.writeHead(206, { "content-range": `bytes ${seen.headers.range?.slice(6)}/${SIZE}` })
        if (seen.headers.range === "bytes=0-0") return void response.end("x")
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
          if (!response.destroyed) response.once("drain", more)
        }
        more()
      }
      const { bytes, size } = yield* provider.read(model, reference, undefined)
      expect(size).toBe(SIZE)
      const some = yield* Stream.runCollect(Stream.take(bytes, 3))
      expect(some.length).toBe(3)
      yield* until(() => servers[0]!.hungUp === 1)
    }).pipe(Effect.scoped, Effect.timeout("20 seconds"))
  )
})

it("a part of a film lies within it, whatever is asked for", () => {
  const range = fc.oneof(
    fc.record({ start: fc.nat(), end: fc.option(fc.nat(), { nil: undefined }) }),
    fc.record({ suffix: fc.nat() })
  )
  fc.assert(
    fc.property(fc.nat(), range, (size, asked) => {
      const { end, start } = within(size, asked)
      expect([end >= start, start >= size || end <= size]).toEqual([true, true])
      if ("suffix" in asked) expect(end - start).toBe(Math.min(size, asked.suffix))
      else expect(start).toBe(asked.start)
    })
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
