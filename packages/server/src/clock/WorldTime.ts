/**
 * What time is it in a world that runs `speed` times faster than the wall clock? Pure: an anchor (one moment on both
 * clocks) and a speed give every later moment, the same for whoever knows the anchor.
 */

export interface Anchor {
  /** Unix milliseconds of the wall clock at which the world's clock showed `worldMs`. */
  readonly realMs: number
  readonly worldMs: number
  /** World time per real time; above 0. */
  readonly speed: number
}

const NANOS_PER_MILLI = 1_000_000n

export const worldNanosAt = (anchor: Anchor, realNanos: bigint): bigint => {
  const elapsed = Number(realNanos - BigInt(anchor.realMs) * NANOS_PER_MILLI)
  return BigInt(anchor.worldMs) * NANOS_PER_MILLI + BigInt(Math.round(elapsed * anchor.speed))
}

export const worldMillisAt = (anchor: Anchor, realNanos: bigint): number =>
  Number(worldNanosAt(anchor, realNanos) / NANOS_PER_MILLI)

/**
 * The anchor to go on with at `realMs`; undefined when the world has always run at the wall clock's pace. The world's
 * clock never goes back: not by another speed, not by a wall clock set back before the
 * anchor (set back while nothing runs, but not so far, it takes the world's clock with it).
 */
export const anchorFrom = (known: Anchor | undefined, speed: number, realMs: number): Anchor | undefined => {
  if (known === undefined) return speed === 1 ? undefined : { realMs, worldMs: realMs, speed }
  if (realMs < known.realMs) return { realMs, worldMs: known.worldMs, speed }
  if (speed === known.speed) return known
  return { realMs, worldMs: worldMillisAt(known, BigInt(realMs) * NANOS_PER_MILLI), speed }
}
