/** Sockets, threads and their readers live in real time, whatever the speed of the service's clock: this is the machine's own. */
import { Clock, Effect } from "effect"

export const wallClock = Clock.Clock.defaultValue()

export const inWallTime = Effect.provideService(Clock.Clock, wallClock)

/** Does something after so much real time, unless what it answers is called before. */
export const after = (ms: number, then: () => void): (() => void) => {
  const timer = Effect.runFork(inWallTime(Effect.andThen(Effect.sleep(ms), Effect.sync(then))))
  return () => timer.interruptUnsafe()
}
