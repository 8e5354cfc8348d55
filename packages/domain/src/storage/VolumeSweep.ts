/**
 * Makes the provider delete the data of deleted volumes. The deletion is recorded together with the deleted row, and
 * the record is deleted after the provider has confirmed. The provider's deletion is idempotent, so any replica may
 * retry it after any failure.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { Replica } from "../database/Replica.ts"
import * as Sweep from "../database/Sweep.ts"
import { MachineProvider } from "../machines/MachineProvider.ts"
import { VolumeStore } from "./VolumeStore.ts"

const BATCH = 32

export class VolumeSweep extends Context.Service<
  VolumeSweep,
  {
    /** Runs one sweep; returns the number of volumes that the provider deleted. */
    readonly sweep: Effect.Effect<number>
    readonly run: Effect.Effect<void>
  }
>()("@sluice/domain/storage/VolumeSweep") {
  static readonly layer = Layer.effect(
    VolumeSweep,
    Effect.gen(function* () {
      const provider = yield* MachineProvider
      const store = yield* VolumeStore
      const everyMs = Sweep.EVERY_MS * (yield* Replica).scale

      const remove = (id: string) =>
        provider.deleteVolume(id).pipe(
          Effect.andThen(store.forget(id)),
          Effect.as(true),
          Effect.catchTag("ProviderUnavailable", ({ cause }) =>
            Effect.as(Effect.logWarning(`volume ${id}: its provider has not deleted it yet`, cause), false)
          )
        )

      const sweep = Effect.gen(function* () {
        for (let deleted = 0; ;) {
          const now = yield* Clock.currentTimeMillis
          const ids = yield* store.claimDeleted(new Date(now), new Date(now + everyMs), BATCH)
          const deletions = yield* Effect.forEach(ids, remove, { concurrency: "unbounded" })
          const count = deletions.filter(Boolean).length
          deleted += count
          // After a failure the provider is asked again by the next sweep, not by this one.
          if (count < BATCH) return deleted
        }
      })

      const run = Sweep.every("volumes", everyMs, sweep)
      return VolumeSweep.of({ sweep, run })
    })
  )
}
