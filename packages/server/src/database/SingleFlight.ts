/**
 * Single flight with a timeout, for a query to a database that may not answer. A caller waits at most `within`, while
 * the query goes on in the background. Callers that come meanwhile share the running query, so queries to a silent
 * database do not pile up.
 */
import { Effect, Fiber } from "effect"
import type { Cause, Duration, Scope } from "effect"

export const singleFlight = <A, E>(
  query: Effect.Effect<A, E>,
  within: Duration.Duration
): Effect.Effect<Effect.Effect<A, E | Cause.TimeoutError>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let running: Fiber.Fiber<A, E> | undefined
    const start = Effect.suspend(() =>
      running !== undefined
        ? Effect.succeed(running)
        : Effect.map(Effect.forkIn(query, scope, { startImmediately: true }), (fiber) => {
            running = fiber
            fiber.addObserver(() => (running = undefined))
            return fiber
          })
    )
    return start.pipe(Effect.flatMap(Fiber.join), Effect.timeout(within))
  })
