/** The window rule against a model that remembers every request, in virtual time. */
import { expect, it } from "@effect/vitest"
import { WINDOW_MS } from "@sluice/domain/limits/RateLimit"
import { RateLimits } from "@sluice/domain/limits/RateLimits"
import { Clock, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"

const step = Schema.Struct({
  waitMs: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40_000 })),
  key: Schema.Literals(["a", "b"]),
  // A key's limit may change in the middle of a window.
  limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))
})

it.effect.prop(
  "the rate limit admits the same requests as the naive model",
  [Schema.Array(step).check(Schema.isMaxLength(60))],
  ([steps]) =>
    Effect.gen(function* () {
      const limits = yield* RateLimits
      const asked: Record<string, Array<{ readonly at: number; readonly limit: number }>> = { a: [], b: [] }
      for (const { waitMs, key, limit } of steps) {
        yield* TestClock.adjust(waitMs)
        const now = yield* Clock.currentTimeMillis
        asked[key]!.push({ at: now, limit })
        // Every window from the beginning: it starts with the first request that no earlier window covers.
        let start = -Infinity
        let used = 0
        let admitted = false
        for (const { at, limit: most } of asked[key]!) {
          if (at >= start + WINDOW_MS) [start, used] = [at, 0]
          admitted = used < most
          if (admitted) used += 1
        }
        expect(yield* limits.consume(key, limit)).toEqual({
          admitted,
          limit,
          remaining: Math.max(0, limit - used),
          resetSeconds: Math.ceil((start + WINDOW_MS) / 1000),
          retryAfterSeconds: Math.ceil((start + WINDOW_MS - now) / 1000)
        })
      }
    }).pipe(Effect.provide(RateLimits.layer))
)
