/**
 * The clock of a simulated world. It runs `speed` times faster than the wall clock, and with it every timestamp, limit
 * and bill (decisions: Simulator, `--speed N`). Its anchor is in the database, so restarts and replicas share one time.
 *
 * All processes on one database must have the same speed. A running process keeps the anchor that it started with.
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { SteadyClock } from "./SteadyClock.ts"
import { takeAnchor } from "./WorldClockStore.ts"
import { type Anchor, worldNanosAt } from "./WorldTime.ts"

/**
 * Factor by which the service's clock runs faster than the callers' clocks. Waits that a response names are divided by
 * it.
 */
export const WorldSpeed = Context.Reference<number>("@sluice/server/clock/WorldSpeed", { defaultValue: () => 1 })

/**
 * Replaces the `Clock` of the layers built on it. At speed 1, in a world that was never faster, it shows the wall
 * clock's time.
 */
export const worldClock = (speed: number): Layer.Layer<never, SqlError, SqlClient.SqlClient> =>
  Layer.merge(
    Layer.succeed(WorldSpeed, speed),
    Layer.effect(
      Clock.Clock,
      Effect.gen(function* () {
        const real = yield* Clock.Clock
        const sql = yield* SqlClient.SqlClient
        const anchor = yield* takeAnchor(sql, speed, real.currentTimeMillisUnsafe())
        const steady = new SteadyClock(real)
        return anchor === undefined ? steady : new WorldClock(steady, anchor)
      })
    )
  )

const NANOS_PER_MILLI = 1_000_000n

export class WorldClock implements Clock.Clock {
  private readonly real: Clock.Clock
  private readonly anchor: Anchor
  private readonly firstMonotonic: bigint
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())

  /** `real` must never go back. */
  constructor(real: Clock.Clock, anchor: Anchor) {
    this.real = real
    this.anchor = anchor
    this.firstMonotonic = real.monotonicTimeNanosUnsafe()
  }

  currentTimeNanosUnsafe(): bigint {
    return worldNanosAt(this.anchor, this.real.currentTimeNanosUnsafe())
  }

  currentTimeMillisUnsafe(): number {
    return Number(this.currentTimeNanosUnsafe() / NANOS_PER_MILLI)
  }

  monotonicTimeNanosUnsafe(): bigint {
    const elapsed = Number(this.real.monotonicTimeNanosUnsafe() - this.firstMonotonic)
    return BigInt(Math.round(elapsed * this.anchor.speed))
  }

  /** Never wakes early: a timer's millisecond is `speed` milliseconds of this clock, so the rest is slept again. */
  sleep(duration: Duration.Duration): Effect.Effect<void> {
    const millis = Duration.toMillis(duration)
    if (millis <= 0 || !Number.isFinite(millis)) return this.real.sleep(duration)
    return Effect.suspend(() => this.sleepUntil(this.monotonicTimeNanosUnsafe() + BigInt(Math.ceil(millis * 1e6))))
  }

  private sleepUntil(deadline: bigint): Effect.Effect<void> {
    return Effect.suspend(() => {
      const left = Number(deadline - this.monotonicTimeNanosUnsafe())
      if (left <= 0) return Effect.void
      const real = Duration.millis(Math.ceil(left / 1e6 / this.anchor.speed))
      return Effect.andThen(this.real.sleep(real), this.sleepUntil(deadline))
    })
  }
}
