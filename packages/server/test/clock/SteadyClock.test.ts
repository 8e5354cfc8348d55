/** The steady clock: it follows the wall clock and never goes back, however the wall clock is set. */
import { describe, expect, it } from "@effect/vitest"
import { type Clock, Effect, Schema } from "effect"
import { SteadyClock } from "../../src/clock/SteadyClock.ts"

const START = 1_800_000_000_000
const HOUR = 3_600_000
const nanos = (millis: number) => BigInt(Math.floor(millis)) * 1_000_000n

/** Its nanoseconds follow the wall clock only on a difference above one second, as Effect's clock does. */
const handClock = () => {
  const hand = { wall: START, monotonic: 5_000 }
  let origin = START - 5_000
  const fine = () => {
    if (Math.abs(hand.wall - hand.monotonic - origin) > 1_000) origin = hand.wall - hand.monotonic
    return nanos(origin + hand.monotonic)
  }
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => Math.floor(hand.wall),
    currentTimeNanosUnsafe: fine,
    monotonicTimeNanosUnsafe: () => nanos(hand.monotonic),
    currentTimeMillis: Effect.sync(() => hand.wall),
    currentTimeNanos: Effect.sync(fine),
    monotonicTimeNanos: Effect.sync(() => nanos(hand.monotonic)),
    sleep: () => Effect.void
  }
  /** Time passes on both clocks. */
  const pass = (ms: number) => {
    hand.wall += ms
    hand.monotonic += ms
  }
  return { hand, pass, steady: new SteadyClock(clock) }
}

/** The clock is read at least each second, as in every server. */
const Passed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))
const Jump = Schema.Literals([0, 0, 0, -2_000, -HOUR, HOUR, 30_000])

describe("the steady clock", () => {
  it.prop(
    "never goes back, never lags the wall clock, and at most runs a little slower",
    { steps: Schema.Array(Schema.Struct({ passed: Passed, jump: Jump })) },
    ({ steps }) => {
      const { hand, pass, steady } = handClock()
      for (const { jump, passed } of steps) {
        const before = steady.currentTimeMillisUnsafe()
        hand.wall += jump
        pass(passed)
        const now = steady.currentTimeMillisUnsafe()
        expect(now).toBeGreaterThanOrEqual(hand.wall)
        expect(now - before).toBeGreaterThanOrEqual(passed - 0.05 * 2_000 - 12)
        expect(now - before).toBeLessThanOrEqual(passed + Math.max(0, jump) + 12)
      }
    }
  )

  it("equals the wall clock as long as it is never set back", () => {
    const { hand, pass, steady } = handClock()
    for (const [passed, jump] of [
      [5, 0],
      [5_000, 0],
      [100, HOUR],
      [0, 0],
      [70_000, 5_000]
    ] as const) {
      pass(passed)
      hand.wall += jump
      expect(steady.currentTimeMillisUnsafe()).toBe(hand.wall)
      expect(steady.currentTimeNanosUnsafe()).toBe(nanos(hand.wall))
    }
  })

  it("agrees in milliseconds and nanoseconds, also after a step of less than a second", () => {
    const { hand, pass, steady } = handClock()
    for (const jump of [0, -900, 0, 700, -5_000, 0, -300, 300, 0]) {
      hand.wall += jump
      for (const passed of [0, 3, 400]) {
        pass(passed)
        const off = steady.currentTimeNanosUnsafe() - nanos(steady.currentTimeMillisUnsafe())
        expect(Math.abs(Number(off))).toBeLessThanOrEqual(10 * 1e6)
      }
    }
  })

  it("continues after the wall clock was set back, and converges to it", () => {
    const { hand, pass, steady } = handClock()
    hand.wall -= HOUR
    pass(10_000)
    expect(steady.currentTimeMillisUnsafe()).toBe(START + 9_500)
    for (let i = 0; i < 25; i++) {
      pass(HOUR)
      steady.currentTimeMillisUnsafe()
    }
    expect(steady.currentTimeMillisUnsafe()).toBe(hand.wall)
    // Set back and forward again: no difference remains.
    const before = steady.currentTimeMillisUnsafe()
    hand.wall -= HOUR
    expect(steady.currentTimeMillisUnsafe()).toBe(before)
    hand.wall += HOUR
    expect(steady.currentTimeMillisUnsafe()).toBe(before)
    pass(1_000)
    expect(steady.currentTimeMillisUnsafe()).toBe(before + 1_000)
  })
})
