/**
 * Which window is each key in? The table of one process. Keys come from authenticated principals only, so strangers can't
 * fill it; windows that ended are dropped, and beyond `MAX_KEYS` the oldest goes first.
 */
import { admit, type Verdict, newer, type Window, WINDOW_MS } from "./RateLimit.ts"

/** Windows remembered at most. */
export const MAX_KEYS = 100_000

export class Windows {
  // A window that begins is put at the end, so the ones that ended are in front.
  private readonly byKey = new Map<string, Window>()

  /** What is known of a key; the window may have ended. */
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

  /** Takes over what was counted elsewhere too, where it is newer than what is known. */
  learn(key: string, window: Window, nowMs: number): void {
    const before = this.byKey.get(key)
    this.put(key, before, newer(before, window), nowMs)
  }

  private put(key: string, before: Window | undefined, window: Window, nowMs: number): void {
    if (before?.startMs !== window.startMs) {
      this.byKey.delete(key)
      this.byKey.set(key, window)
      this.forgetEnded(nowMs)
    } else {
      this.byKey.set(key, window)
    }
  }

  private forgetEnded(nowMs: number): void {
    for (const [key, window] of this.byKey) {
      if (this.byKey.size <= MAX_KEYS && nowMs < window.startMs + WINDOW_MS) return
      this.byKey.delete(key)
    }
  }
}
