/**
 * Holds of requests that are over, whose end the books did not confirm: the store was away, or its answer was lost. They are
 * told until they answer, so that nobody's money is set aside for what failed. Each hold is its own guard: telling again
 * changes nothing, and a charge that had come through stands.
 *
 * What a replica that dies still had to tell, the sweep of expired holds finds.
 */
import { Cause, Effect, Exit } from "effect"
import { isPassing } from "../database/StoreAway.ts"
import type { MeterOutcome, MeterRow } from "./MeteringStore.ts"

/** Holds that are remembered at most; others expire. */
const MOST = 10_000
/** Told at once. */
const BATCH = 64

/** `sleep`: between two tries. `background`: runs work beside the requests, as long as the service does. */
export const makeHandBacks = (
  send: (row: MeterRow) => Effect.Effect<MeterOutcome>,
  sleep: Effect.Effect<void>,
  background: (work: Effect.Effect<void>) => void
) => {
  const owed = new Map<string, MeterRow>()
  let working = false

  const tell = (row: MeterRow): Effect.Effect<boolean> =>
    Effect.map(Effect.exit(send(row)), (exit) => {
      // What fails otherwise would fail again.
      const again = Exit.isFailure(exit) && isPassing(Cause.squash(exit.cause))
      if (!again) owed.delete(row.id)
      return !again
    })

  const work: Effect.Effect<void> = Effect.suspend(() => {
    const some = [...owed.values()].slice(0, BATCH)
    if (some.length === 0) {
      working = false
      return Effect.void
    }
    return Effect.flatMap(Effect.forEach(some, tell, { concurrency: "unbounded" }), (told) =>
      Effect.andThen(told.every(Boolean) ? Effect.void : sleep, work)
    )
  })

  /** `row` gives back what is left of a hold. */
  return (row: MeterRow): void => {
    if (owed.size >= MOST) return
    owed.set(row.id, row)
    if (working) return
    working = true
    background(Effect.andThen(sleep, work))
  }
}
