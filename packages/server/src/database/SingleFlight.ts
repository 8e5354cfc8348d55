/**
 * A question to a database that may be silent, for who must have an answer soon: it is waited for no longer than `within`,
 * while the statement goes on behind; who asks meanwhile waits for the same answer, so that silence piles nothing up.
 */
import { Effect, Fiber } from "effect"
import type { Cause, Duration, Scope } from "effect"

export const singleFlight = <A, E>(
  ask: Effect.Effect<A, E>,
  within: Duration.Duration
): Effect.Effect<Effect.Effect<A, E | Cause.TimeoutError>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let asked: Fiber.Fiber<A, E> | undefined
    const begun = Effect.suspend(() =>
      asked !== undefined
        ? Effect.succeed(asked)
        : Effect.map(Effect.forkIn(ask, scope, { startImmediately: true }), (fiber) => {
            asked = fiber
            fiber.addObserver(() => (asked = undefined))
            return fiber
          })
    )
    return begun.pipe(Effect.flatMap(Fiber.join), Effect.timeout(within))
  })
