/**
 * Random numbers of the simulated models: keyed, never sequential, so that a draw depends only on its key and not on
 * earlier draws.
 */

/**
 * Returns a 32-bit hash of a text under a seed: FNV-1a as in `Chance.ts`, but mixed as in `unit`. The answers of the
 * models under a seed depend on it.
 */
export const textHash = (seed: number, text: string): number => {
  let hash = (0x811c9dc5 ^ seed) >>> 0
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return mix(hash)
}

/** Returns the `n`-th number of a key, from 0 up to but not 1. */
export const unit = (key: number, n: number): number => mix((key + Math.imul(n + 1, 0x9e3779b9)) | 0) / 2 ** 32

/** Returns the `n`-th whole number of a key, from `low` to `high`, both included. */
export const between = (key: number, n: number, low: number, high: number): number =>
  low + Math.floor(unit(key, n) * (high - low + 1))

export const pick = <A>(key: number, n: number, from: ReadonlyArray<A>): A => from[between(key, n, 0, from.length - 1)]!

const mix = (value: number): number => {
  let x = value >>> 0
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
  return (x ^ (x >>> 15)) >>> 0
}
