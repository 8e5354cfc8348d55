/**
 * Random numbers by name. The same seed and key give the same number, whatever was drawn before. So a run without one
 * item draws the same numbers for all other items, and a failing run can be shrunk.
 *
 * Keys are stable names (the id of a plan item, the number of an attempt), never generated ids.
 */

export interface Chance {
  readonly seed: number
  /** Returns a number from 0 up to but not 1. A flat chance always draws 0.5: no noise. */
  readonly draw: (key: string) => number
}

export const chance = (seed: number, flat = false): Chance => ({
  seed,
  draw: flat ? () => 0.5 : (key) => draw(seed, key)
})

/** Returns a number from 0 up to but not 1. */
export const draw = (seed: number, key: string): number => hash32(seed, key) / 2 ** 32

/** Returns a whole number from `low` to `high`, both included. `drawn` is a number from 0 up to but not 1. */
export const between = (drawn: number, low: number, high: number): number => low + Math.floor(drawn * (high - low + 1))

/** Returns a 32-bit hash: FNV-1a over the key, then a finalizer that spreads each bit over all bits. */
export const hash32 = (seed: number, key: string): number => {
  let hash = (2_166_136_261 ^ seed) >>> 0
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 16_777_619)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
