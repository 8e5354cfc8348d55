/** One limit for all replicas: any mix of replicas gives the answers of one replica that counts alone. */
import { expect, it } from "@effect/vitest"
import { createClient } from "@redis/client"
import { admit, type Window, WINDOW_MS } from "@sluice/domain/limits/RateLimit"
import { KEPT_MS } from "@sluice/server/limits/RateScript"
import { MAX_WAITING, nameOf } from "@sluice/server/limits/RedisRateLimits"
import { Clock, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, beforeAll } from "vitest"
import { describeOnRedis, RedisProcess } from "@sluice/testing/engines/Redis"
import { replica } from "./support/Replicas.ts"

const step = Schema.Struct({
  // Sums that end with a window, just before it and just after it.
  waitMs: Schema.Literals([0, 1, 20_000, 30_000, WINDOW_MS - 1, WINDOW_MS]),
  key: Schema.Literals(["a", "b"]),
  by: Schema.Literals([0, 1]),
  limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))
})

describeOnRedis("A rate limit in Redis", () => {
  let redis: RedisProcess
  beforeAll(async () => {
    redis = await RedisProcess.started()
  })
  // Undefined where Redis could not be started.
  afterAll(() => (redis as RedisProcess | undefined)?.kill())

  /** A client of its own beside the replicas. */
  const looking = Effect.acquireRelease(
    Effect.promise(() => createClient({ url: redis.url }).connect()),
    (client) => Effect.sync(() => client.destroy())
  )
  const two = Effect.suspend(() => Effect.all([replica(redis.url), replica(redis.url)]))
  let runs = 0

  it.effect.prop(
    "two replicas admit the same requests that one replica would admit",
    [Schema.Array(step).check(Schema.isMinLength(1), Schema.isMaxLength(40))],
    ([steps]) =>
      Effect.gen(function* () {
        const run = `run ${++runs}`
        const replicas = yield* two
        const windows = new Map<string, Window>()
        for (const { waitMs, key, by, limit } of steps) {
          yield* TestClock.adjust(waitMs)
          const { window, verdict } = admit(windows.get(key), limit, yield* Clock.currentTimeMillis)
          windows.set(key, window)
          expect(yield* replicas[by].limits.consume(`${run} ${key}`, limit)).toEqual(verdict)
          expect(yield* replicas[by].limits.sharing).toBe("shared")
        }
      }).pipe(Effect.scoped)
  )

  it.live("two replicas asked at once admit exactly the limit, and use each place once", () =>
    Effect.gen(function* () {
      const replicas = yield* two
      const answers = yield* Effect.all(
        Array.from({ length: 1_000 }, (_, i) => replicas[i % 2]!.limits.consume("at once", 300)),
        { concurrency: "unbounded" }
      )
      const left = answers.filter(({ admitted }) => admitted).map(({ remaining }) => remaining)
      expect(left.sort((a, b) => b - a)).toEqual(Array.from({ length: 300 }, (_, i) => 299 - i))
      expect(new Set(answers.map(({ resetSeconds }) => resetSeconds)).size).toBe(1)
      expect(replicas.map(({ lines }) => lines.length)).toEqual([1, 1])
    }).pipe(Effect.scoped)
  )

  it.live("the limit is shared however many requests were counted before", () =>
    Effect.gen(function* () {
      const [a, b] = yield* two
      const many = Array.from({ length: MAX_WAITING + 1 }, () => a.limits.consume("many", 10_000))
      yield* Effect.all(many, { concurrency: 64, discard: true })
      expect((yield* b.limits.consume("many", 10_000)).remaining).toBe(10_000 - MAX_WAITING - 2)
      expect((yield* a.limits.consume("many", 10_000)).remaining).toBe(10_000 - MAX_WAITING - 3)
      expect((yield* b.limits.consume("many", 10_000)).remaining).toBe(10_000 - MAX_WAITING - 4)
    }).pipe(Effect.scoped)
  )

  it.live("the limit is counted on after Redis has forgotten the script", () =>
    Effect.gen(function* () {
      const [a, b] = yield* two
      const client = yield* looking
      expect((yield* a.limits.consume("flushed", 9)).remaining).toBe(8)
      yield* Effect.promise(() => client.sendCommand(["SCRIPT", "FLUSH"]))
      expect((yield* b.limits.consume("flushed", 9)).remaining).toBe(7)
      expect(yield* b.limits.sharing).toBe("shared")
    }).pipe(Effect.scoped)
  )

  it.live("every key in Redis expires, hides the id, and survives foreign values", () =>
    Effect.gen(function* () {
      const [a] = yield* two
      const client = yield* looking
      yield* Effect.promise(() => client.sendCommand(["FLUSHALL"]))
      yield* Effect.promise(() => client.sendCommand(["RPUSH", nameOf("foreign"), "a list"]))
      const id = "0198c0de-0000-7000-8000-00000000cafe"
      yield* a.limits.consume(id, 5)
      expect((yield* a.limits.consume("foreign", 5)).remaining).toBe(4)
      const names = (yield* Effect.promise(() => client.sendCommand(["KEYS", "*"]))) as unknown as ReadonlyArray<string>
      expect(names).toContain(nameOf(id))
      expect(names.join()).not.toContain("cafe")
      for (const name of names) {
        const left = Number(yield* Effect.promise(() => client.sendCommand(["PTTL", name])))
        expect(left, `${name}: its window may not have ended`).toBeGreaterThan(WINDOW_MS)
        expect(left, name).toBeLessThanOrEqual(KEPT_MS)
      }
    }).pipe(Effect.scoped)
  )
})
