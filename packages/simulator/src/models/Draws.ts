/**
 * Chance of the simulated models: keyed, never sequential, so that a draw depends on its name alone and not on what was
 * drawn before it.
 */

/** 32 bits of a text under a seed: FNV-1a as in `Chance.ts`, but mixed as `unit` is. What models answer under a seed hangs on it. */
export const textHash = (seed: number, text: string): number => {
  let hash = (0x811c9dc5 ^ seed) >>> 0
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return mix(hash)
}

/** The `n`-th number of a key, from 0 to below 1. */
export const unit = (key: number, n: number): number => mix((key + Math.imul(n + 1, 0x9e3779b9)) | 0) / 2 ** 32

/** The `n`-th whole number of a key, from `low` to `high`, both inclusive. */
export const between = (key: number, n: number, low: number, high: number): number =>
  low + Math.floor(unit(key, n) * (high - low + 1))

export const pick = <A>(key: number, n: number, from: ReadonlyArray<A>): A => from[between(key, n, 0, from.length - 1)]!

const mix = (value: number): number => {
  let x = value >>> 0
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
  return (x ^ (x >>> 15)) >>> 0
}
