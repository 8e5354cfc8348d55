/**
 * Releases the holds of requests whose server died, when they expire, and deletes old resolved holds.
 *
 * The sweep wakes on a timer alone. The sweep is idempotent, also on every replica at once: only the statement that
 * finds a hold open releases it.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { Replica } from "../database/Replica.ts"
import * as Sweep from "../database/Sweep.ts"
import { HoldSweepStore } from "./HoldSweepStore.ts"

/** Maximum holds of one statement. */
const BATCH = 500
/**
 * Time for which resolved holds are kept after their expiry (ms), so that a late retry of a settlement still finds its
 * guard.
 */
const KEPT_MS = 24 * 60 * 60_000

export class HoldSweep extends Context.Service<
  HoldSweep,
  {
    /** Runs one sweep; returns the number of holds that it released or deleted. */
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
