/**
 * Remembers for a while that a write failed because the disk is full. A successful write proves nothing: reads go on,
 * and a write of a few bytes may still fit. Without `storeWritesLayer` nothing is remembered.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { sqlStateOf } from "./StoreFailure.ts"

/** SQLSTATE: no space on the disk (53100), or an I/O error of it (58030). */
const DISK_FULL = new Set(["53100", "58030"])
/** Time for which a failed write counts (ms). After it the disk may have space again. */
const REMEMBERED_MS = 10_000

export interface Writes {
  readonly recordFailure: (error: unknown) => void
  /** A write failed within the last `REMEMBERED_MS`, because the disk is full or cannot be written. */
  readonly isDiskFull: () => boolean
}

export const StoreWrites = Context.Reference<Writes>("@sluice/domain/database/StoreWrites", {
  defaultValue: () => ({ recordFailure: () => {}, isDiskFull: () => false })
})

/** Remembers failed writes, on the clock of the layer's context. */
export const storeWritesLayer = Layer.effect(
  StoreWrites,
  Effect.map(Clock.Clock, (clock): Writes => {
    let until = 0
    return {
      recordFailure: (error) => {
        if (DISK_FULL.has(sqlStateOf(error))) until = clock.currentTimeMillisUnsafe() + REMEMBERED_MS
      },
      isDiskFull: () => clock.currentTimeMillisUnsafe() < until
    }
  })
)
