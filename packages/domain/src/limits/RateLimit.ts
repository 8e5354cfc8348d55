/**
 * The rate limit rule (decisions: Rate limit). A window lasts 60 s and begins with the first request after the last
 * window ended, so a window never has more than `limit` admitted requests. The functions are pure: the caller stores
 * the window.
 */

export const WINDOW_MS = 60_000

export interface Window {
  readonly startMs: number
  /** Requests admitted in this window. */
  readonly used: number
}

export interface Verdict {
  readonly admitted: boolean
  readonly limit: number
  readonly remaining: number
  /** Unix time in whole seconds, rounded up, at which the window ends. */
  readonly resetSeconds: number
  /** Whole seconds until then, at least 1. */
  readonly retryAfterSeconds: number
}

/**
 * Decides whether a request at `nowMs` is admitted, and returns the window after it. If the clock steps back, the
 * request counts in the current window.
 */
export const admit = (
  window: Window | undefined,
  limit: number,
  nowMs: number
): { readonly window: Window; readonly verdict: Verdict } => {
  const current = window === undefined || nowMs >= window.startMs + WINDOW_MS ? { startMs: nowMs, used: 0 } : window
  const admitted = current.used < limit
  const next = admitted ? { startMs: current.startMs, used: current.used + 1 } : current
  return { window: next, verdict: verdictOf(next, admitted, limit, nowMs) }
}

/** Returns the verdict for a request at `nowMs`. `window` already counts that request if it was admitted. */
export const verdictOf = (window: Window, admitted: boolean, limit: number, nowMs: number): Verdict => {
  const endMs = window.startMs + WINDOW_MS
  return {
    admitted,
    limit,
    remaining: Math.max(0, limit - window.used),
    resetSeconds: Math.ceil(endMs / 1000),
    retryAfterSeconds: Math.max(1, Math.ceil((endMs - nowMs) / 1000))
  }
}

/**
 * Returns the more recent of two records of one key. Windows only begin later, and in each window the count only grows.
 */
export const newer = (a: Window | undefined, b: Window): Window =>
  a === undefined || b.startMs > a.startMs || (b.startMs === a.startMs && b.used > a.used) ? b : a
