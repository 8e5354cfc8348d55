/**
 * Lets the followers of an output sleep until the next byte is due. A stop wakes them at once. A stop on another
 * replica is seen at the next poll, after the longest sleep at the latest.
 */
import { Effect } from "effect"
import type { Scope } from "effect"

/**
 * The longest sleep, in milliseconds of the world's clock. A longer one sees stops on other replicas later, a shorter
 * one polls more.
 */
const MAX_SLEEP_MS = 30_000

export class OutputWaits {
  readonly #followers = new Map<string, Set<Follower>>()

  /** Returns a follower that every stop from now on wakes, also while it reads. */
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
  #isWoken = false
  #resume: (() => void) | undefined

  wake(): void {
    this.#isWoken = true
    this.#resume?.()
  }

  /** Returns after `ms` at the latest, or as soon as a stop woke the follower since its last sleep. */
  sleep(ms: number): Effect.Effect<void> {
    const woken = Effect.callback<void>((resume) => {
      this.#resume = () => resume(Effect.void)
      if (this.#isWoken) this.#resume()
    })
    const asleep = Effect.sleep(Math.max(1, Math.min(ms, MAX_SLEEP_MS)))
    return Effect.ensuring(
      Effect.raceFirst(woken, asleep),
      Effect.sync(() => {
        this.#isWoken = false
        this.#resume = undefined
      })
    )
  }
}
