/**
 * Sockets and their readers live in real time, whatever the speed of the service's clock: what guards them runs on the
 * machine's own.
 */
import { Clock, Effect } from "effect"

export const inWallTime = Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
