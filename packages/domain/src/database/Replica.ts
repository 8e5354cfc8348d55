/**
 * Who this process is among those that share the database, and how long its claims last.
 *
 * The id is new at each start, so that a claim of a dead predecessor is never taken for one's own. Times are those of the
 * service's clock: on a clock that runs faster they are longer, so that a real second of silence is the same either way.
 */
import { Context, Crypto, Effect, Layer } from "effect"

export class Replica extends Context.Service<
  Replica,
  {
    readonly id: string
    /** A claim not renewed for this long may be taken by another replica. Renewed at a third of it. */
    readonly leaseMs: number
    /** A poll: what limits are counted in. */
    readonly pollMs: number
    /** How often a loop looks without having been woken. */
    readonly lookMs: number
  }
>()("@sluice/domain/database/Replica") {
  /** `pollMs`: on the service's clock; by default a real second. `lookMs`: by default once in a poll. */
  static readonly layer = (options: { readonly speed: number; readonly pollMs?: number; readonly lookMs?: number }) =>
    Layer.effect(
      Replica,
      Effect.gen(function* () {
        const crypto = yield* Crypto.Crypto
        const id = yield* Effect.orDie(crypto.randomUUIDv4())
        const pollMs = options.pollMs ?? 1_000 * options.speed
        const lookMs = options.lookMs ?? pollMs
        // Nobody looks for claims that ran out more often than that: a shorter one would only be renewed more often.
        return Replica.of({ id, leaseMs: Math.max(6_000 * options.speed, lookMs), pollMs, lookMs })
      })
    )
}
