/**
 * Who this process is among those that share the database, and how long its claims last.
 *
 * The id is new at each start, so that a claim of a dead predecessor is never taken for one's own. Times are those
 * of the service's clock. On a clock that runs faster a lease, the longest that an answer may take, the pause between two
 * sweeps are longer, so that they are the same real time: what is meant so is multiplied by `scale`, what is not is plain.
 */
import { Context, Crypto, Effect, Layer } from "effect"

export class Replica extends Context.Service<
  Replica,
  {
    readonly id: string
    /** A claim not renewed for this long may be taken by another replica. Renewed at a third of it. */
    readonly leaseMs: number
    /** What a duration that is meant in real time is multiplied by. */
    readonly scale: number
    /** How often a loop looks without having been woken. */
    readonly lookMs: number
  }
>()("@sluice/domain/database/Replica") {
  /** `scale`: by default the clock's speed. `lookMs`: on the service's clock; by default a second times `scale`. */
  static readonly layer = (options: { readonly speed: number; readonly scale?: number; readonly lookMs?: number }) =>
    Layer.effect(
      Replica,
      Effect.gen(function* () {
        const crypto = yield* Crypto.Crypto
        const id = yield* Effect.orDie(crypto.randomUUIDv4())
        const scale = options.scale ?? options.speed
        const lookMs = options.lookMs ?? 1_000 * scale
        // Nobody looks for claims that ran out more often than that: a shorter one would only be renewed more often.
        return Replica.of({ id, leaseMs: Math.max(6_000 * options.speed, lookMs), scale, lookMs })
      })
    )
}
