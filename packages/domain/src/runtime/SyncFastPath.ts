/**
 * For the hot path: what is there already costs no turn of a fiber. Only for use within an effect, because `next` may run at
 * once, and what it throws is a defect of the effect around it.
 */
import { Effect, Exit } from "effect"

/** `Effect.flatMap`. */
export const flatMapSync = <A, E, R, B, E2, R2>(
  effect: Effect.Effect<A, E, R>,
  next: (value: A) => Effect.Effect<B, E2, R2>
): Effect.Effect<B, E | E2, R | R2> => {
  const exit = exitIfSettled(effect)
  if (exit === undefined) return Effect.flatMap(effect, next)
  return Exit.isSuccess(exit) ? next(exit.value) : Effect.failCause(exit.cause)
}

/** What an effect comes to, where it is nothing but that. */
export const exitIfSettled = <A, E, R>(effect: Effect.Effect<A, E, R>): Exit.Exit<A, E> | undefined =>
  Exit.isExit(effect) ? (effect as Exit.Exit<A, E>) : undefined
