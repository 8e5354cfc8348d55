/**
 * Gives back what a server that died had reserved for its requests: it releases expired holds and forgets resolved ones.
 *
 * Wakes on a timer alone. Running it twice, or on every replica at once, is harmless: a hold is released by the one
 * statement that finds it open.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { Replica } from "../database/Replica.ts"
import * as Sweep from "../database/Sweep.ts"
import { HoldSweepStore } from "./HoldSweepStore.ts"

/** Holds of one statement. */
const BATCH = 500
/** Resolved holds are kept this long past their expiry: a late repeat of a settlement still finds its guard. */
const KEPT_MS = 24 * 60 * 60_000

export class HoldSweep extends Context.Service<
  HoldSweep,
  {
    /** One sweep; answers how many holds it resolved or forgot. */
    readonly sweep: Effect.Effect<number>
    readonly run: Effect.Effect<void>
  }
>()("@sluice/domain/metering/HoldSweep") {
  static readonly layerNoDeps = Layer.effect(
    HoldSweep,
    Effect.gen(function* () {
      const store = yield* HoldSweepStore
      const everyMs = Sweep.EVERY_MS * (yield* Replica).scale
      const sweep = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        let total = 0
        for (;;) {
          const touched = yield* store.sweep(now, now - KEPT_MS, BATCH)
          total += touched
          if (touched === 0) return total
        }
      })
      const run = Sweep.every("holds of requests", everyMs, sweep)
      return HoldSweep.of({ sweep, run })
    })
  )

  static readonly layer = HoldSweep.layerNoDeps.pipe(Layer.provide(HoldSweepStore.layer))
}
