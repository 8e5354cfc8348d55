/**
 * Gives back what a server that died had reserved for its requests: it releases expired holds and forgets resolved ones.
 *
 * Wakes on a timer alone. Running it twice, or on every replica at once, is harmless: a hold is released by the one
 * statement that finds it open.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { Replica } from "../database/Replica.ts"
import * as Sweep from "../database/Sweep.ts"
import { MeteringStore } from "./MeteringStore.ts"

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
      yield* Effect.forkScoped(Sweep.every("holds of requests", Sweep.EVERY_POLLS * pollMs, tick))
    })
  )
}
