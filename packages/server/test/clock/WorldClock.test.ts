/** The world's clock runs at its speed, never goes back, and is the same after a restart and on every replica. */
import { describe, expect, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { worldClock, WorldClock, WorldSpeed } from "../../src/clock/WorldClock.ts"
import { anchorFrom, worldMillisAt } from "../../src/clock/WorldTime.ts"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"

const START = 1_800_000_000_000
const Millis = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 ** 9 }))
const Speed = Schema.Literals([0.5, 1, 2, 60, 1000])
const nanos = (millis: number) => BigInt(millis) * 1_000_000n

/** A wall clock that the test sets by hand. */
const handClock = () => {
  const hand = { wall: START, monotonic: 0, slept: [] as Array<number> }
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => hand.wall,
    currentTimeNanosUnsafe: () => nanos(hand.wall),
    monotonicTimeNanosUnsafe: () => nanos(hand.monotonic),
    currentTimeMillis: Effect.sync(() => hand.wall),
    currentTimeNanos: Effect.sync(() => nanos(hand.wall)),
    monotonicTimeNanos: Effect.sync(() => nanos(hand.monotonic)),
    sleep: (duration) =>
      Effect.sync(() => {
        const millis = Duration.toMillis(duration)
        hand.slept.push(millis)
        hand.monotonic += Math.max(1, millis - 1)
      })
  }
  return { hand, clock }
}

describe("the anchor", () => {
  it.prop(
    "keeps a restart and another speed from moving the world's clock",
    { steps: Schema.Array(Schema.Struct({ pause: Millis, speed: Speed })) },
    ({ steps }) => {
      let real = START
      let anchor = anchorFrom(undefined, 1000, real)!
      for (const { pause, speed } of steps) {
        real += pause
        const world = worldMillisAt(anchor, nanos(real))
        anchor = anchorFrom(anchor, speed, real)!
        expect(worldMillisAt(anchor, nanos(real))).toBe(world)
        expect(worldMillisAt(anchor, nanos(real + 10_000))).toBeCloseTo(world + 10_000 * speed, -1)
      }
    }
  )

  it.prop("holds the world's clock while the wall clock is before it", { back: Millis, speed: Speed }, (given) => {
    const known = { realMs: START, worldMs: START + 5, speed: 60 }
    const real = START - given.back - 1
    expect(anchorFrom(known, given.speed, real)).toEqual({ realMs: real, worldMs: START + 5, speed: given.speed })
  })
})

describe("the clock", () => {
  it.prop("advances at its speed", { steps: Schema.Array(Millis), speed: Speed }, ({ steps, speed }) => {
    const { hand, clock } = handClock()
    const world = new WorldClock(clock, { realMs: START, worldMs: START, speed })
    for (const step of steps) {
      const before = world.currentTimeNanosUnsafe()
      hand.wall += step
      expect(Number(world.currentTimeNanosUnsafe() - before) / 1e6).toBeCloseTo(step * speed, 2)
    }
  })

  it.effect("sleeps its own time and never wakes early, though timers do", () =>
    Effect.gen(function* () {
      const { hand, clock } = handClock()
      const world = new WorldClock(clock, { realMs: START, worldMs: START, speed: 60 })
      yield* world.sleep(Duration.minutes(1))
      expect(hand.slept).toEqual([1000, 1])
      expect(hand.monotonic).toBe(1000)
    })
  )

  it.effect("ends an interrupted sleep", () =>
    Effect.gen(function* () {
      const world = new WorldClock(yield* Clock.Clock, { realMs: START, worldMs: START, speed: 60 })
      const fiber = yield* Effect.forkChild(world.sleep(Duration.hours(1)), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      const short = yield* Effect.forkChild(world.sleep(Duration.hours(1)), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(short)
    })
  )
})

onEveryDatabase("the world's clock", (it) => {
  const timeOf = (speed: number) => Clock.currentTimeMillis.pipe(Effect.provide(Layer.fresh(worldClock(speed))))

  it.effect("equals the wall clock in a world that was never faster", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* TestClock.setTime(START)
      expect(yield* timeOf(1)).toBe(START)
      expect(yield* sql`select * from world_clock`).toEqual([])
    })
  )

  it.effect("is shared by replicas and continues over restarts and speeds", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START)
      expect(yield* timeOf(60)).toBe(START)
      expect(yield* Effect.provide(WorldSpeed, Layer.fresh(worldClock(60)))).toBe(60)
      yield* TestClock.setTime(START + 1000)
      expect(yield* Effect.all([timeOf(60), timeOf(60)], { concurrency: 2 })).toEqual([START + 60_000, START + 60_000])
      expect(yield* timeOf(1)).toBe(START + 60_000)
      yield* TestClock.setTime(START + 2000)
      expect(yield* timeOf(1)).toBe(START + 61_000)
      expect(yield* timeOf(10)).toBe(START + 61_000)
      yield* TestClock.setTime(START)
      expect(yield* timeOf(10)).toBe(START + 61_000)
    })
  )
})
