/**
 * Bounds the outbox: deletes events that are older than 30 days.
 *
 * Wakes on a timer alone. Running it twice, or on every replica at once, is harmless.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { OutboxStore } from "./OutboxStore.ts"
import { Replica } from "./Replica.ts"
import * as Sweep from "./Sweep.ts"

/** Events of one statement. */
const BATCH = 500
/** An event that is older than this is of no use to a receiver. */
const KEPT_MS = 30 * 24 * 60 * 60_000

export class OutboxSweep extends Context.Service<
  OutboxSweep,
  {
    /** One sweep. Returns how many events it deleted. */
    readonly sweep: Effect.Effect<number>
    readonly run: Effect.Effect<void>
  }
>()("@sluice/domain/database/OutboxSweep") {
  static readonly layer = Layer.effect(
    OutboxSweep,
    Effect.gen(function* () {
      const store = yield* OutboxStore
      const everyMs = Sweep.EVERY_MS * (yield* Replica).scale
      const sweep = Effect.gen(function* () {
        const before = (yield* Clock.currentTimeMillis) - KEPT_MS
        let total = 0
        for (;;) {
          const deleted = yield* store.forget(before, BATCH)
          total += deleted
          if (deleted === 0) return total
        }
      })
      return OutboxSweep.of({ sweep, run: Sweep.every("the outbox", everyMs, sweep) })
    })
  ).pipe(Layer.provide(OutboxStore.layer))
}
