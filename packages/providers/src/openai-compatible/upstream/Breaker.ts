/**
 * Whether an upstream is to be asked: a circuit breaker without a clock of its own. Failures in a row open it, for longer
 * each time; then one request at a time probes it, and the first answer closes it. An upstream that says that it is busy
 * rests for as long as it asks, which is no failure.
 */
import type { UpstreamHealth } from "@sluice/domain/models/ModelProvider"

export type Breaker =
  /** `failures` in a row; not asked before `restsUntilMs`. */
  | { readonly _tag: "Closed"; readonly failures: number; readonly restsUntilMs: number }
  /** Not asked before `untilMs`; opened `trips` times since it last answered. */
  | { readonly _tag: "Open"; readonly untilMs: number; readonly trips: number }
  /** A probe is under way, and counts as lost at `untilMs`. */
  | { readonly _tag: "HalfOpen"; readonly untilMs: number; readonly trips: number }

/** What a request showed of its upstream. `Nothing`: it was given up before it could. */
export type Verdict =
  | { readonly _tag: "Answered" }
  | { readonly _tag: "Failed"; readonly retryAfterMs: number | undefined }
  | { readonly _tag: "Busy"; readonly retryAfterMs: number | undefined }
  | { readonly _tag: "Nothing" }

/** Failures in a row that open it. */
export const MAX_FAILURES = 5
const FIRST_PAUSE_MS = 5_000
export const LONGEST_PAUSE_MS = 60_000
const PROBE_MS = 30_000
/** Rest of a busy upstream that names no Retry-After. */
const REST_MS = 1_000
/** However long an upstream asks to be left alone. */
export const LONGEST_REST_MS = 600_000

export const fresh: Breaker = { _tag: "Closed", failures: 0, restsUntilMs: 0 }

/** Whether a request may go there now. */
export const admits = (breaker: Breaker, nowMs: number): boolean =>
  breaker._tag === "Closed" ? nowMs >= breaker.restsUntilMs : nowMs >= breaker.untilMs

/** Milliseconds for which it is surely left alone. A probe may end at any time. */
export const pauseOf = (breaker: Breaker, nowMs: number): number =>
  breaker._tag === "HalfOpen"
    ? 0
    : Math.max(0, (breaker._tag === "Closed" ? breaker.restsUntilMs : breaker.untilMs) - nowMs)

/** Whether the request that is admitted now is a probe. */
export const probes = (breaker: Breaker): boolean => breaker._tag !== "Closed"

/** After a request was admitted. */
export const admitted = (breaker: Breaker, nowMs: number): Breaker =>
  breaker._tag === "Closed" ? breaker : { _tag: "HalfOpen", untilMs: nowMs + PROBE_MS, trips: breaker.trips }

/** After a request showed something. What was asked before it opened says nothing of how it is now: `probe` does. */
export const after = (breaker: Breaker, verdict: Verdict, probe: boolean, nowMs: number): Breaker => {
  if (breaker._tag === "Closed") return closedAfter(breaker, verdict, nowMs)
  if (!probe) return breaker
  switch (verdict._tag) {
    case "Answered":
      return fresh
    case "Busy":
      return { ...fresh, restsUntilMs: nowMs + rest(verdict.retryAfterMs ?? REST_MS) }
    case "Failed":
      return opened(breaker.trips + 1, verdict.retryAfterMs, nowMs)
    case "Nothing":
      return breaker._tag === "Open" ? breaker : { _tag: "Open", untilMs: nowMs, trips: breaker.trips }
  }
}

const closedAfter = (breaker: Extract<Breaker, { _tag: "Closed" }>, verdict: Verdict, nowMs: number): Breaker => {
  switch (verdict._tag) {
    case "Answered":
      return breaker.failures === 0 ? breaker : { ...breaker, failures: 0 }
    case "Busy":
      return { ...breaker, restsUntilMs: later(breaker.restsUntilMs, nowMs + rest(verdict.retryAfterMs ?? REST_MS)) }
    case "Failed":
      return breaker.failures + 1 >= MAX_FAILURES
        ? opened(1, verdict.retryAfterMs, nowMs)
        : {
            _tag: "Closed",
            failures: breaker.failures + 1,
            restsUntilMs: later(breaker.restsUntilMs, nowMs + rest(verdict.retryAfterMs ?? 0))
          }
    case "Nothing":
      return breaker
  }
}

const opened = (trips: number, retryAfterMs: number | undefined, nowMs: number): Breaker => {
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(trips - 1, 10))
  return { _tag: "Open", untilMs: nowMs + Math.max(pause, rest(retryAfterMs ?? 0)), trips }
}

const rest = (ms: number): number => Math.min(Math.max(0, ms), LONGEST_REST_MS)
const later = (a: number, b: number): number => Math.max(a, b)

/** In the operator's words. One that may be tried again, and was not yet, is still open. */
export const stateOf = (breaker: Breaker, nowMs: number): UpstreamHealth["state"] => {
  if (breaker._tag === "Closed") return nowMs < breaker.restsUntilMs ? "resting" : "closed"
  return breaker._tag === "Open" ? "open" : "half_open"
}

/** Milliseconds that a `Retry-After` header asks for: seconds or a date; undefined where it says nothing. */
export const retryAfterMs = (header: string | undefined, nowMs: number): number | undefined => {
  if (header === undefined) return undefined
  const text = header.trim()
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return rest(Math.ceil(Number(text) * 1_000))
  const at = /^[A-Za-z]{3}, /.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(at) ? undefined : rest(at - nowMs)
}
