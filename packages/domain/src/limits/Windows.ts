/**
 * The rate limit windows of one process, by key. Keys come from authenticated principals only, so an unauthenticated
 * client cannot fill the table. Ended windows are dropped; above `MAX_KEYS` the oldest window is dropped first.
 */
import { admit, type Verdict, newer, type Window, WINDOW_MS } from "./RateLimit.ts"

/**
 * Windows kept in memory. A lower value would drop windows that are still open, and their keys would start again at 0.
 */
export const MAX_KEYS = 100_000

export class Windows {
  // A new window is added at the end, so the map is ordered by start and ended windows are at its front.
  private readonly byKey = new Map<string, Window>()

  /** The last window of a key; it may have ended. */
  get(key: string): Window | undefined {
    return this.byKey.get(key)
  }

  /** Counts one request of `key` at `nowMs`. */
  consume(key: string, limit: number, nowMs: number): Verdict {
    const before = this.byKey.get(key)
    const { window, verdict } = admit(before, limit, nowMs)
    this.put(key, before, window, nowMs)
    return verdict
  }

  /** Takes over a window that was counted elsewhere, if it is newer than the known one. */
  learn(key: string, window: Window, nowMs: number): void {
    const before = this.byKey.get(key)
    this.put(key, before, newer(before, window), nowMs)
  }

  private put(key: string, before: Window | undefined, window: Window, nowMs: number): void {
    if (before?.startMs !== window.startMs) {
      this.byKey.delete(key)
      this.byKey.set(key, window)
      this.dropEnded(nowMs)
    } else {
      this.byKey.set(key, window)
    }
  }

  private dropEnded(nowMs: number): void {
    for (const [key, window] of this.byKey) {
      if (this.byKey.size <= MAX_KEYS && nowMs < window.startMs + WINDOW_MS) return
      this.byKey.delete(key)
    }
  }
}
