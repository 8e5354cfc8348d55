/** Bounds on a foreign server's effect on ours: bytes, time and connections. */
import { describe, expect, it } from "@effect/vitest"
import { Allowance } from "@sluice/domain/inference/images/ImageFetch"
import { Busy, FairSemaphore } from "@sluice/server/fetch/FairSemaphore"
import { Deferred, Effect, Fiber } from "effect"
import type { RequestListener } from "node:http"
import { gzipSync } from "node:zlib"
import { client, origin, OUTSIDE, PIXEL, pixel, reasonOf } from "./support/Origin.ts"

const PNG = { "content-type": "image/png" }
/** 32 MB of zeros in 32 KB. */
const BOMB = gzipSync(Buffer.alloc(32_000_000))

const PAGES: Readonly<Record<string, RequestListener>> = {
  "/pixel": pixel,
  "/parameters": (_, response) => response.writeHead(200, { "content-type": "Image/WebP; q=1" }).end("x"),
  "/identity": (_, response) => response.writeHead(200, { ...PNG, "content-encoding": "identity" }).end("x"),
  "/html": (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("x"),
  "/typeless": (_, response) => response.writeHead(200).end("x"),
  "/sly": (_, response) => response.writeHead(200, { "content-type": "text/html; a=image/png" }).end("x"),
  "/bomb": (_, response) => response.writeHead(200, { ...PNG, "content-encoding": "gzip" }).end(BOMB),
  "/missing": (_, response) => response.writeHead(404, PNG).end("x"),
  "/part": (_, response) => response.writeHead(206, PNG).end("x"),
  "/none": (_, response) => response.writeHead(204, PNG).end(),
  "/large": (_, response) => response.writeHead(200, { ...PNG, "content-length": 1_000_001 }).write("x"),
  "/endless": (_, response) => {
    response.writeHead(200, PNG)
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on("drain", more)
    more()
  },
  "/slow": (_, response) => response.writeHead(200, PNG).write("x"),
  "/cut": (_, response) => {
    response.writeHead(200, { ...PNG, "content-length": 100 }).write("x", () => response.destroy())
  },
  "/continued": (request, response) => {
    response.writeProcessing()
    response.writeEarlyHints({ link: "</a>; rel=preload" })
    pixel(request, response)
  },
  "/hinting": (request, response) => {
    for (let hints = 0; hints < 5; hints++) response.writeProcessing()
    pixel(request, response)
  },
  "/old": (request) => request.socket.end(`HTTP/1.0 200 OK\r\nContent-Type: image/png\r\n\r\n${"x".repeat(200_000)}`),
  "/switched": (request) =>
    request.socket.end("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
  "/heady": (request) => request.socket.end(`HTTP/1.1 200 OK\r\nA: ${"a".repeat(40_000)}\r\n\r\n`)
}

const pages = origin((request, response) => PAGES[request.url ?? ""]?.(request, response))

describe("SafeFetch", () => {
  it.live("fetches an image within bounds of size and time, and nothing else", () =>
    Effect.gen(function* () {
      const server = yield* pages
      const get = yield* client({ allows: OUTSIDE, limitMs: 1_000 })
      for (const [path, reason] of [
        ["/pixel", "fetched"],
        ["/parameters", "fetched"],
        ["/identity", "fetched"],
        ["/continued", "fetched"],
        ["/old", "fetched"],
        ["/html", "type"],
        ["/typeless", "type"],
        ["/sly", "type"],
        ["/bomb", "encoding"],
        ["/missing", "status"],
        ["/part", "status"],
        ["/none", "status"],
        ["/large", "too_large"],
        ["/endless", "too_large"],
        ["/slow", "timeout"],
        ["/cut", "broken"],
        ["/hinting", "broken"],
        ["/switched", "unreachable"],
        ["/heady", "unreachable"]
      ] as const) {
        expect([path, yield* reasonOf(get(`http://127.0.0.1:${server.port}${path}`))]).toEqual([path, reason])
      }
      expect((yield* get(`http://127.0.0.1:${server.port}/parameters`)).mediaType).toBe("image/webp")
      expect((yield* get(`http://127.0.0.1:${server.port}/old`)).bytes.length).toBe(200_000)
    }).pipe(Effect.scoped)
  )

  it.live("counts downloaded bytes against the allowance of the whole request", () =>
    Effect.gen(function* () {
      const server = yield* pages
      const get = yield* client({ allows: OUTSIDE })
      const allowance = new Allowance(PIXEL.length * 2 + 1)
      const again = reasonOf(get(`http://127.0.0.1:${server.port}/pixel`, { allowance }))
      expect([yield* again, yield* again, yield* again]).toEqual(["fetched", "fetched", "too_large"])
      expect(allowance.left).toBe(1)
      const small = new Allowance(100_000)
      expect(yield* reasonOf(get(`http://127.0.0.1:${server.port}/endless`, { allowance: small }))).toBe("too_large")
    }).pipe(Effect.scoped)
  )

  it.live("sends no header that identifies a caller", () =>
    Effect.gen(function* () {
      const heads: Array<ReadonlyArray<string>> = []
      const server = yield* origin((request, response) => {
        heads.push(request.rawHeaders)
        if (request.url === "/?a=b") response.writeHead(302, { location: "/c", "set-cookie": "d=e" }).end()
        else pixel(request, response)
      })
      const get = yield* client({ allows: OUTSIDE })
      yield* get(`http://127.0.0.1:${server.port}/?a=b#c`)
      const head = ["accept", "image/*", "accept-encoding", "identity", "user-agent", "sluice"]
      head.push("Host", `127.0.0.1:${server.port}`, "Connection", "close")
      expect(heads).toEqual([head, head])
    }).pipe(Effect.scoped)
  )

  it.live("closes the connection when its caller is interrupted", () =>
    Effect.gen(function* () {
      const came = yield* Deferred.make<void>()
      const left = yield* Deferred.make<void>()
      const server = yield* origin((request, response) => {
        request.on("close", () => Deferred.doneUnsafe(left, Effect.void))
        response.writeHead(200, PNG).write("x")
        Deferred.doneUnsafe(came, Effect.void)
      })
      const get = yield* client({ allows: OUTSIDE })
      const fiber = yield* Effect.forkChild(get(`http://127.0.0.1:${server.port}/`))
      yield* Deferred.await(came)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(left)
    }).pipe(Effect.scoped)
  )

  it.live("closes the connection on a response that it refuses", () =>
    Effect.gen(function* () {
      for (const [status, headers, reason] of [
        [200, { "content-type": "text/html" }, "type"],
        [500, PNG, "status"],
        [302, { location: "ftp://example.com/" }, "redirect"],
        [200, { ...PNG, "content-length": "1000001" }, "too_large"]
      ] as const) {
        const left = yield* Deferred.make<void>()
        const server = yield* origin((request, response) => {
          request.on("close", () => Deferred.doneUnsafe(left, Effect.void))
          response.writeHead(status, headers).write("x")
        })
        const get = yield* client({ allows: OUTSIDE })
        expect(yield* reasonOf(get(`http://127.0.0.1:${server.port}/`))).toBe(reason)
        yield* Deferred.await(left)
      }
    }).pipe(Effect.scoped)
  )

  it.live("aborts a name look-up at its time limit", () =>
    Effect.gen(function* () {
      let hungUp = false
      const names = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => (hungUp = true)))
      const get = yield* client({ names, limitMs: 50 })
      expect([yield* reasonOf(get("http://example.com/")), hungUp]).toEqual(["unreachable", true])
    }).pipe(Effect.scoped)
  )

  it.live("keeps one caller's slow servers from delaying another caller", () =>
    Effect.gen(function* () {
      const server = yield* pages
      const limits = { total: 4, each: 2, waitMs: 100 }
      const get = yield* client({ allows: OUTSIDE, limitMs: 600, limits })
      const slow = reasonOf(get(`http://127.0.0.1:${server.port}/slow`))
      const mallory = yield* Effect.forkChild(Effect.all([slow, slow, slow], { concurrency: 3 }))
      while (server.asked.length < 2) yield* Effect.sleep(1)
      expect(yield* reasonOf(get(`http://127.0.0.1:${server.port}/pixel`, { owner: "bob" }))).toBe("fetched")
      expect((yield* Fiber.join(mallory)).sort()).toEqual(["busy", "timeout", "timeout"])
      expect(server.asked.length).toBe(3)
    }).pipe(Effect.scoped)
  )
})

describe("FairSemaphore", () => {
  it.live("never exceeds its limits, and frees the place of an interrupted caller", () =>
    Effect.gen(function* () {
      const semaphore = new FairSemaphore({ total: 3, each: 2, waitMs: 1_000 })
      const running = new Map<string, number>()
      let mostAtOnce = 0
      let mostOfOne = 0
      const work = (owner: string) =>
        Effect.acquireUseRelease(
          Effect.sync(() => running.set(owner, (running.get(owner) ?? 0) + 1)),
          () => {
            mostAtOnce = Math.max(
              mostAtOnce,
              [...running.values()].reduce((sum, one) => sum + one, 0)
            )
            mostOfOne = Math.max(mostOfOne, ...running.values())
            return Effect.sleep(5)
          },
          () => Effect.sync(() => running.set(owner, running.get(owner)! - 1))
        )
      const owners = Array.from({ length: 60 }, (_, index) => ["a", "a", "b"][index % 3]!)
      const leaving = yield* Effect.forkChild(
        Effect.forEach(owners, (owner) => semaphore.run(owner, work(owner)), { concurrency: "unbounded" })
      )
      yield* Effect.sleep(12)
      yield* Fiber.interrupt(leaving)
      yield* Effect.forEach(owners, (owner) => semaphore.run(owner, work(owner)), { concurrency: "unbounded" })
      expect([mostAtOnce, mostOfOne]).toEqual([3, 2])
      const single = new FairSemaphore({ total: 1, each: 1, waitMs: 20 })
      const first = yield* Effect.forkChild(single.run("a", Effect.never))
      yield* Effect.yieldNow
      expect(yield* Effect.flip(single.run("b", Effect.void))).toEqual(new Busy())
      yield* Fiber.interrupt(first)
      yield* single.run("b", Effect.void)
    })
  )
})
