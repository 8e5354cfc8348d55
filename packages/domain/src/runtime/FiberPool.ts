/**
 * Fibers that come and go by the thousand and end with their scope. `Fiber.runIn` does the same over a `Map`, which must not be
 * where so many pass (SlotArray.ts).
 */
import { Effect, Fiber, type Scope } from "effect"
import { SlotArray } from "./SlotArray.ts"

/** Begins an effect at once; where the scope has closed, it is interrupted. */
export type StartFiber<R> = (effect: Effect.Effect<void, never, R>) => Fiber.Fiber<void>

/** When the scope closes, what still runs is interrupted, all at once, and waited for. */
export const makeFiberPool = <R = never>(): Effect.Effect<StartFiber<R>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const fork = Effect.runForkWith(yield* Effect.context<R>())
    const running = new SlotArray<Fiber.Fiber<void>>()
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
