/** Who may ask how often. The layer here counts in this process alone; another may count for all replicas. */
import { Clock, Context, Effect, Layer } from "effect"
import type { Verdict } from "./RateLimit.ts"
import { Windows } from "./Windows.ts"

/** `own`: this process counts for itself, as it was set up. `shared`: one count for all replicas. `lost`: it should be one. */
export type Sharing = "own" | "shared" | "lost"

export class RateLimits extends Context.Service<
  RateLimits,
  {
    /** Counts one request of `key` against `limit` a minute, perhaps before its effect runs: each is to be run, once. */
    readonly consume: (key: string, limit: number) => Effect.Effect<Verdict>
    /** For whom the requests are counted just now. */
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
