/**
 * The host's own clock, for sockets, threads and their timeouts: they run in real time, whatever the speed of the
 * service's clock.
 */
import { Clock, Effect } from "effect"

export const wallClock = Clock.Clock.defaultValue()

export const inWallTime = Effect.provideService(Clock.Clock, wallClock)

/** Runs `then` after `ms` of real time. Returns a function that cancels the timer. */
export const after = (ms: number, then: () => void): (() => void) => {
  const timer = Effect.runFork(inWallTime(Effect.andThen(Effect.sleep(ms), Effect.sync(then))))
  return () => timer.interruptUnsafe()
}
