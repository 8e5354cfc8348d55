/**
 * Who may ask how often, counted in this process. Keys come from authenticated principals only, so strangers can't fill
 * the table; windows that ended are dropped, and beyond `MAX_KEYS` the oldest goes first.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { admit, type Admission, type Window, WINDOW_MS } from "./RateLimit.ts"

/** Windows remembered at most. */
export const MAX_KEYS = 100_000

export class RateLimits extends Context.Service<
  RateLimits,
  {
    /** Counts one request of `key` against `limit` a minute. */
    readonly consume: (key: string, limit: number) => Effect.Effect<Admission>
  }
>()("@sluice/domain/limits/RateLimits") {
  static readonly layer = Layer.sync(RateLimits, () => {
    // A window that begins is put at the end, so the map is ordered by start and the ended ones are in front.
    const windows = new Map<string, Window>()

    const forgetEnded = (now: number) => {
      for (const [key, window] of windows) {
        if (windows.size <= MAX_KEYS && now < window.startMs + WINDOW_MS) return
        windows.delete(key)
      }
    }

    const consume = (key: string, limit: number) =>
      Clock.clockWith((clock) => {
        const now = clock.currentTimeMillisUnsafe()
        const before = windows.get(key)
        const { window, admission } = admit(before, limit, now)
        if (before?.startMs !== window.startMs) {
          windows.delete(key)
          windows.set(key, window)
          forgetEnded(now)
        } else {
          windows.set(key, window)
        }
        return Effect.succeed(admission)
      })

    return { consume }
  })
}
