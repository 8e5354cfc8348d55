/**
 * Who answers to Ctrl-C? The process itself ends the command, unless the command has captured the signals: `jobs run`
 * detaches, `serve` stops in order. One press can reach the process several times (npm and the launcher pass it on beside
 * the terminal), so presses closer together than a person's are one.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

export type Signal = "SIGINT" | "SIGTERM" | "SIGHUP"

export class Interrupts extends Context.Service<
  Interrupts,
  {
    /** Until the scope closes signals come through this queue and end nothing by themselves. */
    readonly captured: Effect.Effect<Queue.Dequeue<Signal>, never, Scope.Scope>
    /** From now on the process ends within so many milliseconds, whatever it still waits for; with exit code 1 then. */
    readonly endWithin: (ms: number) => Effect.Effect<void>
  }
>()("@sluice/cli/terminal/Interrupts") {}

const SAME_PRESS_MS = 150

/**
 * The service, and what the process calls at a signal; `end` ends the command. `nowMs`: any clock that only goes up;
 * `endAfter` ends the process.
 */
export const makeInterrupts = (nowMs: () => number, endAfter: (ms: number) => void) => {
  let captor: Queue.Queue<Signal> | undefined
  let last = -Infinity
  const service = Interrupts.of({
    endWithin: (ms) => Effect.sync(() => endAfter(ms)),
    captured: Effect.acquireRelease(
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
    const same = now - last < SAME_PRESS_MS
    last = now
    if (same) return
    if (captor === undefined) end(signal)
    else Queue.offerUnsafe(captor, signal)
  }
  return { service, onSignal }
}
