/**
 * Fibers that come and go by the thousand and end with their scope. `Fiber.runIn` does the same over a `Map`, which must not be
 * where so many pass: V8 gives a `Map` or `Set` another table as its members come and go, and each table holds on to the next.
 * Once one of them is among what is old, all that passes later outlives its time with it, the members and whatever they hold,
 * until the whole heap is gone through. So the places here are those of an array.
 */
import { Effect, Fiber, type Scope } from "effect"

/** Begins an effect at once; where the scope has closed, it is interrupted. */
export type Begin<R> = (effect: Effect.Effect<void, never, R>) => Fiber.Fiber<void>

/** When the scope closes, what still runs is interrupted, all at once, and waited for. */
export const manyFibers = <R = never>(): Effect.Effect<Begin<R>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const fork = Effect.runForkWith(yield* Effect.context<R>())
    const places: Array<Fiber.Fiber<void> | undefined> = []
    const free: Array<number> = []
    let isClosed = false
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isClosed = true
        return Fiber.interruptAll(places.filter((fiber) => fiber !== undefined))
      })
    )
    return (effect) => {
      const fiber = fork(effect)
      if (fiber.pollUnsafe() !== undefined) return fiber
      if (isClosed) {
        fiber.interruptUnsafe()
        return fiber
      }
      const place = free.pop() ?? places.length
      places[place] = fiber
      fiber.addObserver(() => {
        places[place] = undefined
        free.push(place)
      })
      return fiber
    }
  })
