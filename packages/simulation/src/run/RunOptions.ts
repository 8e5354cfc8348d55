/** How a run is watched; nothing of it changes what happens in the run, a planted bug aside. */
import type { Planted } from "./Surroundings.ts"

export interface Progress {
  readonly now: number
  readonly until: number
  readonly jobs: number
}

export interface RunOptions {
  readonly progress?: (progress: Progress) => void
  /** Look at all invariants at most once in so much virtual time (ms); 0: whenever something was written. By default the fleet's size decides. */
  readonly checkEveryMs?: number
  /** For tests: a bug that the run is to find. */
  readonly planted?: Planted
}
