/**
 * The wall clock, except that it never goes back. Deadlines, leases, rate windows and what is remembered for a second are
 * moments of it: set back by an hour, they would all come an hour late, and a deleted key would be let in until then.
 *
 * When the wall clock is set back, this one goes on from where it was, a little slower than time until both agree. When it
 * is set ahead, this one follows: so does the wall clock of a machine that slept, and there the time has passed.
 */
import { type Clock, type Duration, Effect } from "effect"

/** How much slower it goes while it is ahead of the wall clock: a part of the time that passes. */
const YIELDS = 1 / 20
/** Differences between the two clocks of a machine that mean nothing. */
const NOISE_MS = 10
/** So long the wall clock is taken at its word when it has gone forward. */
const TRUSTED_MS = 1_000
const NANOS_PER_MILLI = 1_000_000
const NOISE_NANOS = BigInt(NOISE_MS * NANOS_PER_MILLI)

export class SteadyClock implements Clock.Clock {
  private readonly real: Clock.Clock
  /** What both clocks showed when they were last compared. */
  private wallMs: number
  private monotonicMs: number
  /** How far it is ahead of the wall clock. */
  private aheadMs = 0
  private lastMs: number
  /** What this clock shows where the monotonic one shows nothing. */
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

  /** The same moment, finer. The wall clock's own nanoseconds are not that: they follow it a second late. */
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
    this.aheadMs = Math.max(0, this.aheadMs - passed * YIELDS)
    this.wallMs = wall
    this.monotonicMs = monotonic
  }

  private monotonic(): number {
    return Number(this.real.monotonicTimeNanosUnsafe()) / NANOS_PER_MILLI
  }
}
