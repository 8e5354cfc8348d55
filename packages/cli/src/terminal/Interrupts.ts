/**
 * Routes signals. By default a signal ends the command; a command that captures the signals handles them itself: `jobs
 * run` detaches, `serve` stops gracefully. One Ctrl-C can reach the process several times (npm and the launcher forward
 * it beside the terminal), so signals within 150 ms count as one.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

export type Signal = "SIGINT" | "SIGTERM" | "SIGHUP"

export class Interrupts extends Context.Service<
  Interrupts,
  {
    /** Until the scope closes, signals go to this queue and do not end the process. */
    readonly capture: Effect.Effect<Queue.Dequeue<Signal>, never, Scope.Scope>
    /** Ends the process after this many milliseconds at the latest, with exit code 1. */
    readonly endWithin: (ms: number) => Effect.Effect<void>
  }
>()("@sluice/cli/terminal/Interrupts") {}

const SAME_PRESS_MS = 150

/**
 * Returns the service and the process's signal handler. `nowMs` is any monotonic clock; `endAfter` ends the process
 * after a delay in milliseconds; `end` ends the command.
 */
export const makeInterrupts = (nowMs: () => number, endAfter: (ms: number) => void) => {
  let captor: Queue.Queue<Signal> | undefined
  let last = -Infinity
  const service = Interrupts.of({
    endWithin: (ms) => Effect.sync(() => endAfter(ms)),
    capture: Effect.acquireRelease(
      Effect.tap(Queue.unbounded<Signal>(), (queue) =>
        Effect.sync(() => {
          captor = queue
        })
      ),
      (queue) =>
        Effect.sync(() => {
          if (captor === queue) captor = undefined
        })
    )
  })
  const onSignal = (signal: Signal, end: (signal: Signal) => void) => {
    const now = nowMs()
    const isSamePress = now - last < SAME_PRESS_MS
    last = now
    if (isSamePress) return
    if (captor === undefined) end(signal)
    else Queue.offerUnsafe(captor, signal)
  }
  return { service, onSignal }
}
