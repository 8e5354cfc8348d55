/**
 * Continues without a fiber turn when a value is there already, for the hot path. Use it only inside an effect: `next`
 * may run when the function is called, so an exception that it throws becomes a defect of the surrounding effect.
 */
import { Effect, Exit } from "effect"

/** `Effect.flatMap`, which calls `next` at once if the effect is settled. */
export const flatMapSync = <A, E, R, B, E2, R2>(
  effect: Effect.Effect<A, E, R>,
  next: (value: A) => Effect.Effect<B, E2, R2>
): Effect.Effect<B, E | E2, R | R2> => {
  const exit = exitIfSettled(effect)
  if (exit === undefined) return Effect.flatMap(effect, next)
  return Exit.isSuccess(exit) ? next(exit.value) : Effect.failCause(exit.cause)
}

/** Returns the exit of an effect that is nothing but an exit, or undefined. */
export const exitIfSettled = <A, E, R>(effect: Effect.Effect<A, E, R>): Exit.Exit<A, E> | undefined =>
  Exit.isExit(effect) ? (effect as Exit.Exit<A, E>) : undefined
