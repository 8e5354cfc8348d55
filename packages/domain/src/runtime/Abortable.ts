/**
 * Work that something from without may end before its time. A race asks that too, with a fiber for each side: here there is one
 * for the work, and none for what hardly ever happens.
 */
import { type Context, Effect, Exit, Fiber } from "effect"

/** To be called with why the work is to end; the first call counts. */
export type Abort<E> = (failure: E) => void

/**
 * `watch` is told how the work is ended, and answers how it stops watching. Work that is ended is interrupted and waited for, and
 * fails with what it was ended for.
 */
export const withAbort = <A, E, R, E2>(
  work: Effect.Effect<A, E, R>,
  watch: (end: Abort<E2>) => () => void
): Effect.Effect<A, E | E2, R> =>
  Effect.contextWith((context: Context.Context<R>) =>
    Effect.callback<A, E | E2>((resume) => {
      const fiber = Effect.runForkWith(context)(work)
      const done = fiber.pollUnsafe()
      if (done !== undefined) return resume(done)
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
