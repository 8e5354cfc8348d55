/** Periodic work that needs no claim: every replica runs it, so it must be idempotent. */
import { type Duration, Effect, Schedule } from "effect"

/** The default pause between two sweeps (ms), before it is multiplied by the replica's scale. */
export const EVERY_MS = 60_000

/**
 * Runs `work` forever: at once, and then again `pause` after each end. A fault is logged, and the next sweep tries
 * again.
 */
export const every = (name: string, pause: Duration.Input, work: Effect.Effect<unknown>): Effect.Effect<void> =>
  work.pipe(
    Effect.catchCause((cause) => Effect.logWarning(`the sweep of ${name} failed`, cause)),
    Effect.repeat(Schedule.spaced(pause)),
    Effect.asVoid
  )
