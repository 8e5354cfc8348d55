/** The breaker against every history of requests: when it lets one through, and that it always does again. */
import { describe, expect, it } from "@effect/vitest"
import {
  admits,
  admitted,
  after,
  type Breaker,
  fresh,
  LONGEST_PAUSE_MS,
  LONGEST_REST_MS,
  MAX_FAILURES,
  pauseOf,
  probes,
  retryAfterMs,
  type Verdict
} from "@sluice/providers/openai-compatible/upstream/Breaker"
import fc from "fast-check"

const verdict: fc.Arbitrary<Verdict> = fc.oneof(
  fc.constantFrom<Verdict>({ _tag: "Answered" }, { _tag: "Nothing" }),
  fc.record({
    _tag: fc.constantFrom("Failed" as const, "Busy" as const),
    retryAfterMs: fc.option(fc.integer({ min: -1_000, max: 10_000_000 }), { nil: undefined })
  })
)
/** Time that passes, and then what the oldest request under way shows, or one more request. */
const step = fc.record({ passes: fc.integer({ min: 0, max: 90_000 }), ends: fc.option(verdict, { nil: undefined }) })
const failed: Verdict = { _tag: "Failed", retryAfterMs: undefined }
/** So many requests and failures of them that it is open: by chance alone it hardly ever is. */
const opening = [undefined, failed].flatMap((ends) => Array.from({ length: MAX_FAILURES }, () => ({ passes: 0, ends })))
const steps = fc
  .tuple(fc.boolean(), fc.array(step, { maxLength: 60 }))
  .map(([opened, more]) => (opened ? [...opening, ...more] : more))

interface Played {
  readonly breaker: Breaker
  readonly now: number
  /** Breakers in the order in which they were, with the time. */
  readonly history: ReadonlyArray<{ readonly breaker: Breaker; readonly now: number; readonly admitted: boolean }>
}

const play = (steps: ReadonlyArray<{ readonly passes: number; readonly ends: Verdict | undefined }>): Played => {
  let breaker = fresh
  let now = 1_000_000
  const underWay: Array<boolean> = []
  const history: Array<Played["history"][number]> = []
  for (const { passes, ends } of steps) {
    now += passes
    let entered = false
    if (ends === undefined) {
      if (admits(breaker, now)) {
        underWay.push(probes(breaker))
        breaker = admitted(breaker, now)
        entered = true
      }
    } else if (underWay.length > 0) breaker = after(breaker, ends, underWay.shift()!, now)
    history.push({ breaker, now, admitted: entered })
  }
  return { breaker, now, history }
}

describe("Breaker", () => {
  it("always admits a request again within the longest pause or rest", () => {
    fc.assert(
      fc.property(steps, (steps) => {
        const { breaker, now } = play(steps)
        expect(admits(breaker, now + Math.max(LONGEST_PAUSE_MS, LONGEST_REST_MS))).toBe(true)
      })
    )
  })

  it("admits a request when its pause is over and not before, unless a probe is under way", () => {
    fc.assert(
      fc.property(steps, (steps) => {
        for (const { breaker, now } of play(steps).history) {
          if (breaker._tag === "HalfOpen") continue
          const pause = pauseOf(breaker, now)
          expect([admits(breaker, now), admits(breaker, now + pause)]).toEqual([pause === 0, true])
          if (pause > 0) expect(admits(breaker, now + pause - 1)).toBe(false)
        }
      })
    )
  })

  it("lets one probe through at a time", () => {
    fc.assert(
      fc.property(steps, (steps) => {
        for (const { breaker, now, admitted } of play(steps).history) {
          if (admitted && breaker._tag === "HalfOpen") expect(admits(breaker, now)).toBe(false)
        }
      })
    )
  })

  it("opens after that many failures in a row, not before, and one answer forgets them", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 }), fc.boolean(), (failures, answered) => {
        let breaker = fresh
        for (let i = 0; i < failures; i++) {
          if (answered && i === 2) breaker = after(breaker, { _tag: "Answered" }, false, i)
          breaker = after(breaker, failed, false, i)
        }
        const inARow = answered && failures > 2 ? failures - 2 : failures
        expect(breaker._tag).toBe(inARow >= MAX_FAILURES ? "Open" : "Closed")
      })
    )
  })

  it("pauses longer each time a probe fails, up to a bound, and closes at the first answer", () => {
    let breaker = fresh
    let now = 0
    for (let i = 0; i < MAX_FAILURES; i++)
      breaker = after(breaker, { _tag: "Failed", retryAfterMs: undefined }, false, now)
    const pauses: Array<number> = []
    for (let i = 0; i < 8; i++) {
      if (breaker._tag !== "Open") throw new Error("it is not open")
      pauses.push(breaker.untilMs - now)
      expect(admits(breaker, breaker.untilMs - 1)).toBe(false)
      now = breaker.untilMs
      expect([admits(breaker, now), probes(breaker)]).toEqual([true, true])
      breaker = after(admitted(breaker, now), { _tag: "Failed", retryAfterMs: undefined }, true, now)
    }
    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000, 60_000])
    if (breaker._tag !== "Open") throw new Error("it is not open")
    expect(after(admitted(breaker, breaker.untilMs), { _tag: "Answered" }, true, now)).toEqual(fresh)
  })

  it("does not listen to what was asked before it opened", () => {
    fc.assert(
      fc.property(steps, verdict, (steps, late) => {
        const { breaker, now } = play(steps)
        if (breaker._tag !== "Closed") expect(after(breaker, late, false, now)).toBe(breaker)
      })
    )
  })

  it("leaves who is busy alone for as long as it asks, which is no failure", () => {
    let breaker = fresh
    for (let i = 0; i < 50; i++) breaker = after(breaker, { _tag: "Busy", retryAfterMs: 30_000 }, false, 0)
    expect(breaker).toMatchObject({ _tag: "Closed", failures: 0 })
    expect([admits(breaker, 29_999), admits(breaker, 30_000)]).toEqual([false, true])
  })

  it("leaves who is busy and does not say for how long alone for a second, a probed one too", () => {
    const busy: Verdict = { _tag: "Busy", retryAfterMs: undefined }
    let open = fresh
    for (let i = 0; i < MAX_FAILURES; i++) open = after(open, failed, false, -5_000)
    for (const breaker of [after(fresh, busy, false, 0), after(admitted(open, 0), busy, true, 0)]) {
      expect(breaker).toMatchObject({ _tag: "Closed", failures: 0 })
      expect([admits(breaker, 999), admits(breaker, 1_000)]).toEqual([false, true])
    }
  })

  it("leaves who fails alone for as long as it asks, where that is longer", () => {
    let breaker = fresh
    for (let i = 0; i < MAX_FAILURES; i++) {
      breaker = after(breaker, { _tag: "Failed", retryAfterMs: 45_000 }, false, 0)
      expect([admits(breaker, 44_999), admits(breaker, 45_000)]).toEqual([false, true])
    }
    expect(breaker._tag).toBe("Open")
  })

  it("reads Retry-After in both forms, within bounds", () => {
    const now = Date.UTC(2027, 0, 1, 12)
    for (const [header, ms] of [
      [undefined, undefined],
      ["3", 3_000],
      [" 0.25 ", 250],
      ["0", 0],
      ["999999999", LONGEST_REST_MS],
      ["Fri, 01 Jan 2027 12:00:30 GMT", 30_000],
      ["Fri, 01 Jan 2027 11:00:00 GMT", 0],
      ["soon", undefined],
      ["-5", undefined],
      ["1e9", undefined],
      ["", undefined]
    ] as const) {
      expect([header, retryAfterMs(header, now)]).toEqual([header, ms])
    }
  })
})
