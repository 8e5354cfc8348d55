/**
 * A semaphore with a limit in total and a limit per owner, so that no owner can use all permits. A caller that waits
 * too long for a permit fails with `Busy`; an interrupted caller releases its permit or its place in the queue.
 */
import { Effect, Schema, Semaphore } from "effect"

export interface SemaphoreLimits {
  /** Permits in total. */
  readonly total: number
  /** Permits of one owner. */
  readonly each: number
  readonly waitMs: number
}

/** No permit became free within `waitMs`. */
export class Busy extends Schema.TaggedError<Busy>()("Busy", {}) {}

export class FairSemaphore {
  readonly #limits: SemaphoreLimits
  readonly #all: Semaphore.Semaphore
  /** Owners that hold a permit or wait for one. */
  readonly #owners = new Map<string, { readonly permits: Semaphore.Semaphore; users: number }>()

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits
    this.#all = Semaphore.makeUnsafe(limits.total)
  }

  run<A, E, R>(owner: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E | Busy, R> {
    return Effect.suspend(() => {
      const entry = this.#owners.get(owner) ?? { permits: Semaphore.makeUnsafe(this.#limits.each), users: 0 }
      this.#owners.set(owner, entry)
      entry.users++
      let isStarted = false
      const started = Effect.suspend(() => {
        isStarted = true
        return work
      })
      const timeout = Effect.flatMap(Effect.sleep(this.#limits.waitMs), () =>
        isStarted ? Effect.never : Effect.fail(new Busy())
      )
      return Effect.raceFirst(entry.permits.withPermit(this.#all.withPermit(started)), timeout).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            if (--entry.users === 0) this.#owners.delete(owner)
          })
        )
      )
    })
  }
}
