/** The wall clock, never set back: time that passed is told as such, whatever somebody sets. */
import { describe, expect, it } from "@effect/vitest"
import { type Clock, Effect, Schema } from "effect"
import { SteadyClock } from "../../src/clock/SteadyClock.ts"

const START = 1_800_000_000_000
const HOUR = 3_600_000
const nanos = (millis: number) => BigInt(Math.floor(millis)) * 1_000_000n

/** Its nanoseconds follow the wall clock only where they differ by more than a second, as those of Effect's clock. */
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
  /** Time passes on both. */
  const pass = (ms: number) => {
    hand.wall += ms
    hand.monotonic += ms
  }
  return { hand, pass, steady: new SteadyClock(clock) }
}

/** Somebody asks each second at the latest, as in every server. */
const Passed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))
const Jump = Schema.Literals([0, 0, 0, -2_000, -HOUR, HOUR, 30_000])

describe("the steady clock", () => {
  it.prop(
    "never goes back, never lags the wall clock, and runs on a little slower at most",
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

  it("is the wall clock as long as nobody sets it back", () => {
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

  it("is one moment in milliseconds and nanoseconds, also where it is set by less than a second", () => {
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

  it("goes on where the wall clock is set back, and agrees with it in the end", () => {
    const { hand, pass, steady } = handClock()
    hand.wall -= HOUR
    pass(10_000)
    expect(steady.currentTimeMillisUnsafe()).toBe(START + 9_500)
    for (let i = 0; i < 25; i++) {
      pass(HOUR)
      steady.currentTimeMillisUnsafe()
    }
    expect(steady.currentTimeMillisUnsafe()).toBe(hand.wall)
    // Set back and right again: nothing happened.
    const before = steady.currentTimeMillisUnsafe()
    hand.wall -= HOUR
    expect(steady.currentTimeMillisUnsafe()).toBe(before)
    hand.wall += HOUR
    expect(steady.currentTimeMillisUnsafe()).toBe(before)
    pass(1_000)
    expect(steady.currentTimeMillisUnsafe()).toBe(before + 1_000)
  })
})
