/** How a run is watched; nothing of it changes what happens in the run, a planted bug aside. */
import type { Planted } from "./Surroundings.ts"

export interface Progress {
  readonly now: number
  readonly until: number
  readonly jobs: number
}

export interface RunOptions {
  readonly progress?: (progress: Progress) => void
  /** For tests: a bug that the run is to find. */
  readonly planted?: Planted
}
