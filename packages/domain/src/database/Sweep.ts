/** Work that wakes on a timer alone: what it does may be done twice, and by every replica. */
import { type Duration, Effect, Schedule } from "effect"

/** Between two sweeps, times the replica's scale. */
export const EVERY_MS = 60_000

/** Runs for ever, at once and then with `pause` between two. A fault is logged, and the next sweep tries again. */
export const every = (name: string, pause: Duration.Input, work: Effect.Effect<unknown>): Effect.Effect<void> =>
  work.pipe(
    Effect.catchCause((cause) => Effect.logWarning(`the sweep of ${name} failed`, cause)),
    Effect.repeat(Schedule.spaced(pause)),
    Effect.asVoid
  )
