/** Rate limits while Redis is killed, hangs, refuses or answers garbage: each replica counts alone, then shares the limit again. */
import { expect, it } from "@effect/vitest"
import { pauseMs } from "@sluice/server/limits/RedisLink"
import { MAX_WAITING } from "@sluice/server/limits/RedisRateLimits"
import { Effect, Fiber } from "effect"
import { createServer, type Socket } from "node:net"
import { describeOnRedis, RedisProcess } from "@sluice/testing/engines/Redis"
import { atOnce, becomes, replica, until } from "./support/Replicas.ts"

const SECRET = "hunter2-hunter2"

const redisProcess = (password?: string) =>
  Effect.acquireRelease(
    Effect.promise(() => RedisProcess.started(password)),
    (redis) => Effect.promise(() => redis.kill())
  )

/** Accepts connections and answers each chunk with the same text. */
const impostor = (words: string | undefined) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ url: string; seen: () => number; open: Set<Socket>; close: () => void }>((resolve) => {
          const open = new Set<Socket>()
          let seen = 0
          const server = createServer((socket) => {
            seen += 1
            open.add(socket)
            socket.on("close", () => open.delete(socket))
            socket.on("error", () => {})
            socket.on("data", () => void (words === undefined || socket.write(words)))
          })
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            const port = typeof address === "object" ? address?.port : 0
            const close = () => {
              server.close()
              for (const socket of open) socket.destroy()
            }
            resolve({ url: `redis://:${SECRET}@127.0.0.1:${port}`, seen: () => seen, open, close })
          })
        })
    ),
    ({ close }) => Effect.sync(close)
  )

describeOnRedis("A rate limit whose Redis is killed", () => {
  it.live(
    "the rate limit is counted per replica while Redis is down, and shared again when Redis is back and empty",
    () =>
      Effect.gen(function* () {
        const redis = yield* redisProcess()
        const [a, b] = yield* Effect.all([replica(redis.url), replica(redis.url)])
        const left = ({ limits }: typeof a) => Effect.map(limits.consume("key", 6), ({ remaining }) => remaining)
        expect([yield* left(a), yield* left(b)]).toEqual([5, 4])
        yield* Effect.promise(() => redis.kill())
        yield* becomes(a, "lost")
        yield* becomes(b, "lost")
        // Each replica keeps the last answer of Redis: b knows of 4 remaining out of 6, a of 5.
        expect(yield* atOnce(left(b))).toBe(3)
        for (const remaining of [4, 3, 2, 1, 0]) expect(yield* atOnce(left(a))).toBe(remaining)
        expect((yield* atOnce(a.limits.consume("key", 6))).admitted).toBe(false)
        yield* Effect.promise(() => redis.start())
        yield* becomes(a, "shared")
        yield* becomes(b, "shared")
        expect((yield* a.limits.consume("key", 6)).admitted).toBe(false)
        expect((yield* b.limits.consume("key", 6)).admitted).toBe(false)
        const where = `Redis at 127.0.0.1:${redis.port}/0`
        for (const { lines } of [a, b]) {
          expect(lines).toEqual([
            `Info: Rate limits are shared through ${where}`,
            expect.stringMatching(
              new RegExp(`^Warn: ${where} is lost \\(\\w+\\): each replica counts rate limits by itself`)
            ),
            `Info: Rate limits are shared through ${where}`
          ])
        }
      }).pipe(Effect.scoped)
  )

  it.live("a Redis that hangs loses no answer, and is not asked again while it hangs", () =>
    Effect.gen(function* () {
      const redis = yield* redisProcess()
      const a = yield* replica(redis.url)
      redis.standStill()
      const many = 2 * MAX_WAITING
      const asked = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: many }, () => a.limits.consume("key", many - 10)),
          { concurrency: "unbounded" }
        ),
        { startImmediately: true }
      )
      // The queue of waiting requests is full: a new request is not queued.
      expect((yield* atOnce(a.limits.consume("beside", 1))).admitted).toBe(true)
      const answers = yield* Fiber.join(asked)
      expect(answers.filter(({ admitted }) => admitted)).toHaveLength(many - 10)
      expect(yield* atOnce(a.limits.sharing)).toBe("lost")
      // The answer is immediate: nothing waits.
      expect((yield* atOnce(a.limits.consume("other", 2))).remaining).toBe(1)
      redis.goOn()
      yield* becomes(a, "shared")
      expect((yield* a.limits.consume("other", 2)).remaining).toBe(0)
      expect(a.lines.map((line) => line.slice(0, 4))).toEqual(["Info", "Warn", "Info"])
      expect(a.lines[1]).toContain("(no answer)")
    }).pipe(Effect.scoped)
  )

  it.live("a stall of the server's own process does not count as a failure of Redis", () =>
    Effect.gen(function* () {
      const redis = yield* redisProcess()
      const a = yield* replica(redis.url)
      redis.standStill()
      const asked = yield* Effect.forkChild(a.limits.consume("key", 2))
      // The event loop turns until the command is written, then stalls for longer than the timeout of Redis.
      for (let i = 0; i < 5; i++) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      const later = yield* Effect.forkChild(a.limits.consume("key", 2))
      redis.goOn()
      for (const end = performance.now() + 600; performance.now() < end;);
      expect((yield* Fiber.join(asked)).remaining).toBe(1)
      expect((yield* Fiber.join(later)).remaining).toBe(0)
      expect(a.lines).toHaveLength(1)
    }).pipe(Effect.scoped)
  )

  it.live("the Redis client needs the right password, and never prints it", () =>
    Effect.gen(function* () {
      const redis = yield* redisProcess(SECRET)
      const right = yield* replica(redis.url)
      expect((yield* right.limits.consume("key", 3)).remaining).toBe(2)
      expect(right.lines.join()).toContain("shared")
      const wrong = yield* replica(`redis://:${SECRET}wrong@127.0.0.1:${redis.port}`)
      const none = yield* replica(`redis://127.0.0.1:${redis.port}`)
      expect(wrong.lines.join()).toContain("(WRONGPASS)")
      expect(none.lines.join()).toContain("(NOAUTH)")
      for (const { lines, limits } of [wrong, none]) {
        expect((yield* atOnce(limits.consume("key", 3))).remaining).toBe(2)
        expect(yield* atOnce(limits.sharing)).toBe("lost")
        expect(lines.join()).not.toContain(SECRET)
      }
      expect(right.lines.join()).not.toContain(SECRET)
    }).pipe(Effect.scoped)
  )
})

it.live("the server starts while Redis never answers, retries within bounds, and logs the loss once", () =>
  Effect.gen(function* () {
    const silent = yield* impostor(undefined)
    const a = yield* replica(silent.url)
    expect(yield* atOnce(a.limits.sharing)).toBe("lost")
    expect((yield* atOnce(a.limits.consume("key", 1))).admitted).toBe(true)
    expect((yield* atOnce(a.limits.consume("key", 1))).admitted).toBe(false)
    yield* until("it tries three times", () => silent.seen() >= 3)
    expect(silent.open.size).toBeLessThanOrEqual(1)
    expect(a.lines).toHaveLength(1)
  }).pipe(Effect.scoped)
)

it.live("the Redis client refuses malformed answers, and never logs their text", () =>
  Effect.gen(function* () {
    const echo = `-ERR unknown command 'AUTH', with args beginning with: '${SECRET}'\r\n`
    for (const [words, reason] of [
      [echo, "(ERR)"],
      [`+${SECRET}\r\n+${SECRET}\r\n`, "(an unexpected reply)"],
      ["*3\r\n:1\r\n:2\r\n$3\r\nabc\r\n", "(an unexpected reply)"],
      [`HTTP/1.1 400 Bad Request\r\n\r\n${SECRET}`, ")"]
    ] as const) {
      const other = yield* impostor(words)
      const a = yield* replica(other.url)
      expect(yield* atOnce(a.limits.sharing)).toBe("lost")
      expect((yield* atOnce(a.limits.consume("key", 2))).remaining).toBe(1)
      expect(a.lines).toHaveLength(1)
      expect(a.lines[0]).toContain(reason)
      expect(a.lines[0]).not.toContain(SECRET)
    }
  }).pipe(Effect.scoped)
)

it("reconnects back off, up to 5 s", () => {
  const pauses = Array.from({ length: 40 }, (_, failures) => pauseMs(failures))
  expect(pauses).toEqual([...pauses].sort((a, b) => a - b))
  expect([pauses[0], pauses[1], pauses.at(-1)]).toEqual([100, 200, 5_000])
})
