/**
 * Who follows an output sleeps until the next byte is due; a stop wakes it at once. A stop on another replica is seen at
 * the next look, which is never further away than the longest sleep.
 */
import { Effect } from "effect"
import type { Scope } from "effect"

/** Longest sleep, in milliseconds of the world's clock. */
const LONGEST_MS = 30_000

export class OutputWaits {
  readonly #followers = new Map<string, Set<Follower>>()

  /** A follower hears every stop from here on, also while it is reading. */
  follower(key: string): Effect.Effect<Follower, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.sync(() => {
        const follower = new Follower()
        const others = this.#followers.get(key)
        if (others === undefined) this.#followers.set(key, new Set([follower]))
        else others.add(follower)
        return follower
      }),
      (follower) =>
        Effect.sync(() => {
          const others = this.#followers.get(key)
          others?.delete(follower)
          if (others?.size === 0) this.#followers.delete(key)
        })
    )
  }

  wake(key: string): void {
    for (const follower of this.#followers.get(key) ?? []) follower.wake()
  }
}

class Follower {
  #woken = false
  #resume: (() => void) | undefined

  wake(): void {
    this.#woken = true
    this.#resume?.()
  }

  /** Returns after `ms` at the latest, or when woken since it last returned. */
  sleep(ms: number): Effect.Effect<void> {
    const woken = Effect.callback<void>((resume) => {
      this.#resume = () => resume(Effect.void)
      if (this.#woken) this.#resume()
    })
    const asleep = Effect.sleep(Math.max(1, Math.min(ms, LONGEST_MS)))
    return Effect.ensuring(
      Effect.raceFirst(woken, asleep),
      Effect.sync(() => {
        this.#woken = false
        this.#resume = undefined
      })
    )
  }
}
