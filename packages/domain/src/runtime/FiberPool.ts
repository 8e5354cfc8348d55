/**
 * Forks many short fibers that end with their scope. `Fiber.runIn` does the same over a `Map`, which keeps garbage
 * alive where many fibers come and go (SlotArray.ts).
 */
import { Effect, Fiber, type Scope } from "effect"
import { SlotArray } from "./SlotArray.ts"

/** Starts an effect at once. If the scope is closed, the fiber is interrupted. */
export type StartFiber<R> = (effect: Effect.Effect<void, never, R>) => Fiber.Fiber<void>

/** Makes a pool. When its scope closes, all running fibers are interrupted at once and awaited. */
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
      const slot = running.add(fiber)
      fiber.addObserver(() => running.remove(slot))
      return fiber
    }
  })
