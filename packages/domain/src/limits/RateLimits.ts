/**
 * The port that counts requests against the rate limit of a key. The layer here counts in this process alone; another
 * layer may count for all replicas.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { Verdict } from "./RateLimit.ts"
import { Windows } from "./Windows.ts"

/**
 * The scope of the count. `own`: this process, as configured. `shared`: all replicas. `lost`: this process, because the
 * configured shared count is unreachable.
 */
export type Sharing = "own" | "shared" | "lost"

export class RateLimits extends Context.Service<
  RateLimits,
  {
    /**
     * Counts one request of `key` against `limit` requests a minute. The count may happen when this function is called,
     * so the caller must run each returned effect exactly once.
     */
    readonly consume: (key: string, limit: number) => Effect.Effect<Verdict>
    /** The current scope of the count. */
    readonly sharing: Effect.Effect<Sharing>
  }
>()("@sluice/domain/limits/RateLimits") {
  static readonly layer = Layer.effect(
    RateLimits,
    Clock.clockWith((clock) => {
      const windows = new Windows()
      return Effect.succeed({
        consume: (key: string, limit: number) =>
          Effect.succeed(windows.consume(key, limit, clock.currentTimeMillisUnsafe())),
        sharing: Effect.succeed("own" as const)
      })
    })
  )
}
