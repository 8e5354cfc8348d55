/** The bytes of films of real servers: whole or in parts, and no more of them than are read. */
import { describe, expect, it } from "@effect/vitest"
import { MAX_FAILURES } from "@sluice/providers/openai-compatible/upstream/Breaker"
import { within } from "@sluice/providers/openai-compatible/calls/VideoBytes"
import { Effect, Stream } from "effect"
import fc from "fast-check"
import { says, type Script } from "@sluice/testing/upstreams/RecordedServer"
import { FILM, over, studio, task, told } from "./support/Studio.ts"
import { until } from "@sluice/testing/upstreams/UpstreamWorld"

describe("the bytes of a film", () => {
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

  it.live("that ends too early is broken", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true)])
      const reference = yield* provider.submit(model, task)
      servers[0]!.script = (seen, response) => {
        const range = `bytes ${seen.headers.range?.slice(6)}/1000`
        response.writeHead(206, { "content-type": "video/mp4", "content-range": range })
        response.end("short")
      }
      const read = Effect.flatMap(provider.read(model, reference, undefined), ({ bytes }) => Stream.runDrain(bytes))
      expect(yield* told(read)).toBe("broken")
    }).pipe(Effect.scoped)
  )

  it.live("that its server has forgotten or does not give out is withheld, and the model is there for others", () =>
    Effect.gen(function* () {
      const { health, model, provider, servers } = yield* over([studio(true)])
      const reference = yield* provider.submit(model, task)
      for (const [status, headers] of [
        ...[302, 307, 400, 403, 404, 410, 413, 415, 422].map((status) => [status, {}] as const),
        // An error, a page, and what nobody could hand on.
        [200, {}],
        [200, { "content-type": "text/html" }],
        [206, { "content-type": "video/mp4", "content-encoding": "gzip" }]
      ] as const) {
        const withheld: Script = (_, response) => says(response, status, { error: { message: "expired" } }, headers)
        servers[0]!.script = withheld
        for (let i = 0; i <= MAX_FAILURES; i++) {
          expect([status, yield* told(provider.read(model, reference, undefined))]).toEqual([status, "unserved"])
        }
        expect(yield* health).toMatchObject([{ state: "closed" }])
        // Forgotten between its size and its bytes.
        servers[0]!.script = studio(true)
        const { bytes } = yield* provider.read(model, reference, undefined)
        servers[0]!.script = withheld
        for (let i = 0; i <= MAX_FAILURES; i++) {
          expect([status, yield* told(Stream.runDrain(bytes))]).toEqual([status, "unserved"])
        }
        expect(yield* health).toMatchObject([{ state: "closed" }])
      }
      // What may pass is its server's.
      servers[0]!.script = (_, response) => says(response, 500, {})
      for (let i = 0; i < MAX_FAILURES; i++) {
        expect(yield* told(provider.read(model, reference, undefined))).toBe("broken")
      }
      expect(yield* health).toMatchObject([{ state: "open" }])
    }).pipe(Effect.scoped)
  )

  it.live("whose size its server does not tell is read once for that", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true)])
      const reference = yield* provider.submit(model, task)
      servers[0]!.script = (_, response) => {
        response.writeHead(200, { "content-type": "video/mp4" })
        response.write("no ")
        response.end("length")
      }
      const part = yield* provider.read(model, reference, { start: 3, end: undefined })
      expect([part.size, part.start, part.end]).toEqual([9, 3, 9])
      const read = yield* Stream.runFold(
        part.bytes,
        () => "",
        (all, some) => all + Buffer.from(some).toString()
      )
      expect(read).toBe("length")
    }).pipe(Effect.scoped)
  )

  it.live("whose parts do not say of how much they are is read from its start", () =>
    Effect.gen(function* () {
      const { model, provider, servers } = yield* over([studio(true)])
      const reference = yield* provider.submit(model, task)
      for (const length of [{}, { "content-length": "9" }]) {
        servers[0]!.script = (seen, response) => {
          const part = seen.headers.range !== undefined
          response.writeHead(part ? 206 : 200, {
            "content-type": "video/mp4",
            ...(part ? { "content-range": "bytes 0-0/*" } : length)
          })
          response.write("n")
          response.end(part ? "" : "o length")
        }
        for (const [range, start, text] of [
          [undefined, 0, "no length"],
          [{ start: 3, end: 5 }, 3, "len"],
          [{ suffix: 2 }, 7, "th"]
        ] as const) {
          const read = yield* provider.read(model, reference, range)
          expect([read.size, read.start]).toEqual([9, start])
          expect(Buffer.concat(yield* Stream.runCollect(read.bytes)).toString()).toBe(text)
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("of which nothing is left is withheld", () =>
    Effect.gen(function* () {
      const { health, model, provider, servers } = yield* over([studio(true)])
      const reference = yield* provider.submit(model, task)
      for (const headers of [{ "content-length": "0" }, { "transfer-encoding": "chunked" }]) {
        servers[0]!.script = (_, response) => says(response, 200, "", { "content-type": "video/mp4", ...headers })
        for (let i = 0; i <= MAX_FAILURES; i++) {
          expect(yield* told(provider.read(model, reference, undefined))).toBe("unserved")
        }
      }
      expect(yield* health).toMatchObject([{ state: "closed" }])
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
    }).pipe(Effect.scoped, Effect.timeout("5 minutes"))
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
