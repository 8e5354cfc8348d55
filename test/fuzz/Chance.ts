/** Draws numbers from a seed and a name. The same seed and name give the same number, independent of earlier draws. */

export interface Chance {
  /** 0 to below 1. */
  readonly next: () => number
  /** A whole number below `n`. */
  readonly below: (n: number) => number
  readonly pick: <A>(from: ReadonlyArray<A>) => A
  readonly maybe: (share: number) => boolean
}

export const chanceOf = (seed: number): Chance => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0
    let x = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
    return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return { next, below, pick: (from) => from[below(from.length)]!, maybe: (share) => next() < share }
}
