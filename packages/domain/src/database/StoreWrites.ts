/**
 * Whether the store takes what is written, by the writes that failed of late: a full disk is read from as ever, and a write of
 * a few bytes may still find a place, so that one came through says nothing. Nobody asks by default: then nothing is kept.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { sqlStateOf } from "./StoreFailure.ts"

/** No room on the disk, or none that can be written. */
const FULL = new Set(["53100", "58030"])
/** After so long without a write that failed it may have room again. */
const BELIEVED_MS = 10_000

export interface Writes {
  readonly failed: (error: unknown) => void
  /** Of late a write found no room. */
  readonly refused: () => boolean
}

export const StoreWrites = Context.Reference<Writes>("@sluice/domain/database/StoreWrites", {
  defaultValue: () => ({ failed: () => {}, refused: () => false })
})

/** Watched on the clock that this is built on. */
export const storeWritesWatched = Layer.effect(
  StoreWrites,
  Effect.map(Clock.Clock, (clock): Writes => {
    let until = 0
    return {
      failed: (error) => {
        if (FULL.has(sqlStateOf(error))) until = clock.currentTimeMillisUnsafe() + BELIEVED_MS
      },
      refused: () => clock.currentTimeMillisUnsafe() < until
    }
  })
)
