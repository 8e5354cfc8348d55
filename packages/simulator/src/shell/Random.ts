/** Keyed chance: a draw depends on a seed and its name alone, never on how many draws there were before. */

/** A 32-bit hash of a seed and a name (FNV-1a with a final mix). */
export const hash32 = (seed: number, name: string): number => {
  let hash = 0x811c9dc5 ^ seed
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** 0 <= draw < 1. */
export const draw = (seed: number, name: string): number => hash32(seed, name) / 2 ** 32

/** A whole number of the range, both ends included. */
export const drawBetween = (seed: number, name: string, range: readonly [number, number]): number =>
  range[0] + Math.floor(draw(seed, name) * (range[1] - range[0] + 1))
