/**
 * Runs work that an outside event may abort. `Effect.race` does that with one fiber for each side; here the work has
 * one fiber and the event none, because it hardly ever happens.
 */
import { type Context, Effect, Exit, Fiber } from "effect"

/** Aborts the work with a failure. Only the first call counts. */
export type Abort<E> = (failure: E) => void

/**
 * Runs `work` until it ends or `watch` aborts it. `watch` is called with the function that aborts, and returns the
 * function that stops watching. Aborted work is interrupted and awaited; the result is then the failure of the abort.
 */
export const withAbort = <A, E, R, E2>(
  work: Effect.Effect<A, E, R>,
  watch: (abort: Abort<E2>) => () => void
): Effect.Effect<A, E | E2, R> =>
  Effect.contextWith((context: Context.Context<R>) =>
    Effect.callback<A, E | E2>((resume) => {
      const fiber = Effect.runForkWith(context)(work)
      const settled = fiber.pollUnsafe()
      if (settled !== undefined) return resume(settled)
      let ended: Exit.Exit<never, E2> | undefined
      const unwatch = watch((failure) => {
        ended ??= Exit.fail(failure)
        fiber.interruptUnsafe()
      })
      fiber.addObserver((exit) => {
        unwatch()
        resume(ended ?? exit)
      })
      return Fiber.interrupt(fiber)
    })
  )
