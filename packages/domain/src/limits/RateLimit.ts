/**
 * The window rule (decisions: Rate limit): a window is the 60 s that begin with the first request after the last window
 * ended, so there are never more than `limit` admitted requests within one window. Pure: the caller keeps the window.
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

/** Whether a request at `nowMs` fits, and the window as it is afterwards. A clock that steps back stays in the window. */
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

/** What a caller is told who asked at `nowMs`; `window` is as it is afterwards. */
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

/** Of two records of one key, the one that knows more: windows only begin later, and in each the count only grows. */
export const newer = (a: Window | undefined, b: Window): Window =>
  a === undefined || b.startMs > a.startMs || (b.startMs === a.startMs && b.used > a.used) ? b : a
