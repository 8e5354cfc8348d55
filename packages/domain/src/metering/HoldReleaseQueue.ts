/**
 * Holds of requests that are over, whose end the books did not confirm: the store was away, or its answer was lost. They are
 * told until they answer, so that nobody's money is set aside for what failed, and once more when no statement can be under
 * way any longer: a reservation may come through after its hand-back. Each hold is its own guard: telling again changes
 * nothing, and a charge that had come through stands.
 *
 * What a replica that dies still had to tell, the sweep of expired holds finds.
 */
import { Cause, Effect, Exit } from "effect"
import { isTransient } from "../database/StoreFailure.ts"
import type { MeterOutcome, MeterRow } from "./MeteringStore.ts"

/** Holds that are remembered at most; others expire. */
const MAX_HOLDS = 10_000
/** Told at once. */
const BATCH = 64

interface Owed {
  readonly row: MeterRow
  /** It was told before, when its reservation may have been under way. */
  readonly isLast: boolean
}

/**
 * `sleep`: between two tries. `late`: until no statement is under way any longer. `background`: runs work beside the requests,
 * as long as the service does.
 */
export const makeHoldReleaseQueue = (
  send: (row: MeterRow) => Effect.Effect<MeterOutcome>,
  sleep: Effect.Effect<void>,
  late: Effect.Effect<void>,
  background: (work: Effect.Effect<void>) => void
) => {
  const owed = new Map<string, Owed>()
  let waiting = 0
  let working = false

  /** What came of it. */
  const tell = ({ row }: Owed): Effect.Effect<"told" | "again" | "failed"> =>
    Effect.map(Effect.exit(send(row)), (exit) => {
      // What fails otherwise would fail again.
      if (Exit.isFailure(exit) && isTransient(Cause.squash(exit.cause))) return "again"
      owed.delete(row.id)
      return Exit.isSuccess(exit) ? "told" : "failed"
    })

  const tellOnceMore = (some: ReadonlyArray<Owed>): void => {
    if (some.length === 0 || waiting + some.length > MAX_HOLDS) return
    waiting += some.length
    const more = Effect.sync(() => {
      waiting -= some.length
      for (const { row } of some) owe(row, true)
    })
    background(Effect.andThen(late, more))
  }

  const work: Effect.Effect<void> = Effect.suspend(() => {
    const some = [...owed.values()].slice(0, BATCH)
    if (some.length === 0) {
      working = false
      return Effect.void
    }
    return Effect.flatMap(Effect.forEach(some, tell, { concurrency: "unbounded" }), (ends) => {
      tellOnceMore(some.filter(({ isLast }, i) => !isLast && ends[i] === "told"))
      return Effect.andThen(ends.includes("again") ? sleep : Effect.void, work)
    })
  })

  const owe = (row: MeterRow, isLast: boolean): void => {
    if (owed.size >= MAX_HOLDS) return
    owed.set(row.id, { row, isLast })
    if (working) return
    working = true
    background(Effect.andThen(sleep, work))
  }

  /** `row` gives back what is left of a hold. */
  return (row: MeterRow): void => owe(row, false)
}
