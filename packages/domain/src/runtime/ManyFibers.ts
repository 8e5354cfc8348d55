/**
 * Fibers that come and go by the thousand and end with their scope. `Fiber.runIn` does the same over a `Map`, which must not be
 * where so many pass (Places.ts).
 */
import { Effect, Fiber, type Scope } from "effect"
import { Places } from "./Places.ts"

/** Begins an effect at once; where the scope has closed, it is interrupted. */
export type Begin<R> = (effect: Effect.Effect<void, never, R>) => Fiber.Fiber<void>

/** When the scope closes, what still runs is interrupted, all at once, and waited for. */
export const manyFibers = <R = never>(): Effect.Effect<Begin<R>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const fork = Effect.runForkWith(yield* Effect.context<R>())
    const running = new Places<Fiber.Fiber<void>>()
    let isClosed = false
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isClosed = true
        return Fiber.interruptAll(running.all())
      })
    )
    return (effect) => {
      const fiber = fork(effect)
      if (fiber.pollUnsafe() !== undefined) return fiber
      if (isClosed) {
        fiber.interruptUnsafe()
        return fiber
      }
      const place = running.add(fiber)
      fiber.addObserver(() => running.remove(place))
      return fiber
    }
  })
