/**
 * Who may do something now, where many want to: so many at a time in all, and of those so many for one owner, that nobody keeps
 * the others from theirs. Who waits too long for a turn is told that it is busy; who goes away leaves its place.
 */
import { Data, Effect, Semaphore } from "effect"

export interface SemaphoreLimits {
  /** At a time, in all. */
  readonly total: number
  /** At a time, of one owner. */
  readonly each: number
  readonly waitMs: number
}

/** No turn came in time. */
export class Busy extends Data.TaggedError("NoTurn")<{}> {}

export class FairSemaphore {
  readonly #limits: SemaphoreLimits
  readonly #all: Semaphore.Semaphore
  /** Owners who have a turn or wait for one. */
  readonly #owners = new Map<string, { readonly turns: Semaphore.Semaphore; users: number }>()

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits
    this.#all = Semaphore.makeUnsafe(limits.total)
  }

  run<A, E, R>(owner: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E | Busy, R> {
    return Effect.suspend(() => {
      const known = this.#owners.get(owner) ?? { turns: Semaphore.makeUnsafe(this.#limits.each), users: 0 }
      this.#owners.set(owner, known)
      known.users++
      let begun = false
      const turn = Effect.suspend(() => {
        begun = true
        return work
      })
      const late = Effect.flatMap(Effect.sleep(this.#limits.waitMs), () =>
        begun ? Effect.never : Effect.fail(new Busy())
      )
      return Effect.raceFirst(known.turns.withPermit(this.#all.withPermit(turn)), late).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            if (--known.users === 0) this.#owners.delete(owner)
          })
        )
      )
    })
  }
}
