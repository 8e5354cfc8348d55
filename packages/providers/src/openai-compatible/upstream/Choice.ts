/** Which of several upstreams is asked: at random, in proportion to weight, among those that may be asked. */

export interface Candidate {
  readonly weight: number
  readonly usable: boolean
}

/** The index of the chosen one; undefined: none may be asked. `drawn` is from 0 up to but not 1. */
export const choose = (candidates: ReadonlyArray<Candidate>, drawn: number): number | undefined => {
  let total = 0
  for (const { usable, weight } of candidates) if (usable) total += weight
  let left = drawn * total
  let last: number | undefined
  for (let at = 0; at < candidates.length; at++) {
    const { usable, weight } = candidates[at]!
    if (!usable) continue
    last = at
    left -= weight
    if (left < 0) return at
  }
  return last
}
