/**
 * The identity of this process among the replicas that share the database, and the length of its claims.
 *
 * The id is new at each start, so that a replica never takes a claim of its dead predecessor for its own. All times are
 * those of the service's clock. Some durations are meant in real time (a lease, the time limit of an answer, the pause
 * between sweeps). If the service's clock runs faster than real time, they are multiplied by `scale`.
 */
import { Context, Crypto, Effect, Layer } from "effect"

export class Replica extends Context.Service<
  Replica,
  {
    readonly id: string
    /**
     * The length of a claim's lease (ms). A lease is renewed three times in this span; after it another replica may
     * claim the row.
     */
    readonly leaseMs: number
    /** The factor for durations that are meant in real time. */
    readonly scale: number
    /** The poll interval of a loop (ms). */
    readonly lookMs: number
  }
>()("@sluice/domain/database/Replica") {
  /** `scale`: by default the clock's speed. `lookMs`: ms of the service's clock, by default 1 s times `scale`. */
  static readonly layer = (options: { readonly speed: number; readonly scale?: number; readonly lookMs?: number }) =>
    Layer.effect(
      Replica,
      Effect.gen(function* () {
        const crypto = yield* Crypto.Crypto
        const id = yield* Effect.orDie(crypto.randomUUIDv4())
        const scale = options.scale ?? options.speed
        const lookMs = options.lookMs ?? 1_000 * scale
        // Loops look for ended leases once in `lookMs`: a shorter lease would not be noticed sooner, only renewed more
        // often.
        return Replica.of({ id, leaseMs: Math.max(6_000 * options.speed, lookMs), scale, lookMs })
      })
    )
}
