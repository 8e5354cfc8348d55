/**
 * The wall clock, except that it never goes back. Deadlines, leases, rate windows and cache lifetimes are moments of
 * this clock. If it went back by an hour, they would end an hour late, and a cached key that was deleted would work
 * until then.
 *
 * When the wall clock is set back, this clock continues from its last value, a little slower than real time, until both
 * agree. When the wall clock is set ahead, this clock follows at once: a machine that slept looks the same, and there
 * the time has passed.
 */
import { type Clock, type Duration, Effect } from "effect"

/** Part of the elapsed time by which this clock slows down while it is ahead of the wall clock. */
const SLOWDOWN = 1 / 20
/** Differences between a machine's wall and monotonic clock that have no meaning. */
const NOISE_MS = 10
/** Milliseconds by which the wall clock may move forward until it is compared with the monotonic clock again. */
const TRUSTED_MS = 1_000
const NANOS_PER_MILLI = 1_000_000
const NOISE_NANOS = BigInt(NOISE_MS * NANOS_PER_MILLI)

export class SteadyClock implements Clock.Clock {
  private readonly real: Clock.Clock
  /** Values of both clocks at the last comparison. */
  private wallMs: number
  private monotonicMs: number
  /** Milliseconds by which this clock is ahead of the wall clock. */
  private aheadMs = 0
  private lastMs: number
  /** Value of this clock, in nanoseconds, at which the monotonic clock is zero. */
  private origin = 0n
  private lastNanos = 0n
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos: Effect.Effect<bigint>

  constructor(real: Clock.Clock) {
    this.real = real
    this.wallMs = this.lastMs = real.currentTimeMillisUnsafe()
    this.monotonicMs = this.monotonic()
    this.monotonicTimeNanos = real.monotonicTimeNanos
  }

  currentTimeMillisUnsafe(): number {
    const wall = this.real.currentTimeMillisUnsafe()
    if (this.aheadMs > 0 || wall < this.lastMs || wall - this.wallMs > TRUSTED_MS) this.compare(wall)
    this.lastMs = Math.max(this.lastMs, Math.floor(wall + this.aheadMs))
    return this.lastMs
  }

  /**
   * The same moment in nanoseconds. The wall clock's own nanoseconds can't be used: they follow a change of the clock a
   * second late.
   */
  currentTimeNanosUnsafe(): bigint {
    const moment = BigInt(this.currentTimeMillisUnsafe()) * BigInt(NANOS_PER_MILLI)
    const monotonic = this.real.monotonicTimeNanosUnsafe()
    const off = this.origin + monotonic - moment
    if (off > NOISE_NANOS || off < -NOISE_NANOS) this.origin = moment - monotonic
    const nanos = this.origin + monotonic
    if (nanos > this.lastNanos) this.lastNanos = nanos
    return this.lastNanos
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.real.monotonicTimeNanosUnsafe()
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return this.real.sleep(duration)
  }

  private compare(wall: number): void {
    const monotonic = this.monotonic()
    const passed = Math.max(0, monotonic - this.monotonicMs)
    const gained = wall - this.wallMs - passed
    if (Math.abs(gained) > NOISE_MS) this.aheadMs = Math.max(0, this.aheadMs - gained)
    this.aheadMs = Math.max(0, this.aheadMs - passed * SLOWDOWN)
    this.wallMs = wall
    this.monotonicMs = monotonic
  }

  private monotonic(): number {
    return Number(this.real.monotonicTimeNanosUnsafe()) / NANOS_PER_MILLI
  }
}
