/**
 * The time of a world that runs `speed` times faster than the wall clock. Pure: an anchor (one moment on both clocks)
 * and a speed determine every later moment, the same on every replica that has the anchor.
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
 * Returns the anchor for a process that starts at `realMs`; undefined when the world has always run at the wall clock's
 * speed. With an anchor, a new speed does not move the world's clock back, and a wall clock set back before the anchor
 * does not either. A wall clock that is set back while no process runs, but not before the anchor, does move it back.
 */
export const anchorFrom = (known: Anchor | undefined, speed: number, realMs: number): Anchor | undefined => {
  if (known === undefined) return speed === 1 ? undefined : { realMs, worldMs: realMs, speed }
  if (realMs < known.realMs) return { realMs, worldMs: known.worldMs, speed }
  if (speed === known.speed) return known
  return { realMs, worldMs: worldMillisAt(known, BigInt(realMs) * NANOS_PER_MILLI), speed }
}
