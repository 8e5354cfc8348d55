/**
 * Gives back what a server that died had reserved for its requests: it releases expired holds and forgets resolved ones.
 *
 * Wakes on a timer alone. Running it twice, or on every replica at once, is harmless: a hold is released by the one
 * statement that finds it open.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { Replica } from "../database/Replica.ts"
import { MeteringStore } from "./MeteringStore.ts"

/** In polls of the replica: once a minute. */
const EVERY_POLLS = 60
/** Holds of one statement. */
const BATCH = 500
/** Resolved holds are kept this long past their expiry: a late repeat of a settlement still finds its guard. */
const KEPT_MS = 24 * 60 * 60_000

export class MeteringReconciler extends Context.Service<
  MeteringReconciler,
  {
    /** Works until nothing is due; how many holds it resolved or forgot. */
    readonly tick: Effect.Effect<number>
  }
>()("@sluice/domain/inference/MeteringReconciler") {
  static readonly layerNoDeps = Layer.effect(
    MeteringReconciler,
    Effect.gen(function* () {
      const store = yield* MeteringStore
      const tick = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        let total = 0
        for (;;) {
          const touched = yield* store.sweep(now, now - KEPT_MS, BATCH)
          total += touched
          if (touched === 0) return total
        }
      })
      return { tick }
    })
  )

  static readonly layer = MeteringReconciler.layerNoDeps.pipe(Layer.provide(MeteringStore.layer))

  /** Runs `tick` once a minute for as long as the layer lives. */
  static readonly loop = Layer.effectDiscard(
    Effect.gen(function* () {
      const { tick } = yield* MeteringReconciler
      const { pollMs } = yield* Replica
      const step = Effect.catchCause(tick, (cause) => Effect.logWarning("Sweep of inference holds failed", cause))
      yield* Effect.forkScoped(Effect.repeat(step, Schedule.spaced(pollMs * EVERY_POLLS)))
    })
  )
}
