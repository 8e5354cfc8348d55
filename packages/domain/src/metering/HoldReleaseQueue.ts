/**
 * Retries the release of holds whose end the database did not confirm: it was unavailable, or its result was lost. A
 * failed request must not keep money reserved.
 *
 * Each release is retried until the database confirms it, and sent once more when no statement can be in flight any
 * more: a reservation may commit after its first release. The hold is the guard, so a repeated release changes nothing,
 * and a charge that committed stays. If the replica dies, the sweep of expired holds releases the rest.
 */
import { Cause, Effect, Exit } from "effect"
import { isTransient } from "../database/StoreFailure.ts"
import type { MeterOutcome, MeterRow } from "./MeteringStore.ts"

/** Maximum queued holds. Holds beyond it are released when they expire. */
const MAX_HOLDS = 10_000
/** Releases sent at once. */
const BATCH = 64

interface QueuedRelease {
  readonly row: MeterRow
  /** The release was confirmed before, when its reservation may have been in flight. */
  readonly isLast: boolean
}

/**
 * `sleep`: the pause between two tries. `late`: waits until no statement sent before can be in flight. `background`:
 * runs work beside the requests, as long as the service runs.
 */
export const makeHoldReleaseQueue = (
  send: (row: MeterRow) => Effect.Effect<MeterOutcome>,
  sleep: Effect.Effect<void>,
  late: Effect.Effect<void>,
  background: (work: Effect.Effect<void>) => void
) => {
  const queue = new Map<string, QueuedRelease>()
  let delayed = 0
  let isRunning = false

  /** Sends a release and removes it from the queue unless it must be retried. */
  const sendRelease = ({ row }: QueuedRelease): Effect.Effect<"confirmed" | "retry" | "failed"> =>
    Effect.map(Effect.exit(send(row)), (exit) => {
      // Any other failure would repeat itself.
      if (Exit.isFailure(exit) && isTransient(Cause.squash(exit.cause))) return "retry"
      queue.delete(row.id)
      return Exit.isSuccess(exit) ? "confirmed" : "failed"
    })

  const repeatLater = (releases: ReadonlyArray<QueuedRelease>): void => {
    if (releases.length === 0 || delayed + releases.length > MAX_HOLDS) return
    delayed += releases.length
    const enqueueAgain = Effect.sync(() => {
      delayed -= releases.length
      for (const { row } of releases) enqueue(row, true)
    })
    background(Effect.andThen(late, enqueueAgain))
  }

  const work: Effect.Effect<void> = Effect.suspend(() => {
    const batch = [...queue.values()].slice(0, BATCH)
    if (batch.length === 0) {
      isRunning = false
      return Effect.void
    }
    return Effect.flatMap(Effect.forEach(batch, sendRelease, { concurrency: "unbounded" }), (ends) => {
      repeatLater(batch.filter(({ isLast }, i) => !isLast && ends[i] === "confirmed"))
      return Effect.andThen(ends.includes("retry") ? sleep : Effect.void, work)
    })
  })

  const enqueue = (row: MeterRow, isLast: boolean): void => {
    if (queue.size >= MAX_HOLDS) return
    queue.set(row.id, { row, isLast })
    if (isRunning) return
    isRunning = true
    background(Effect.andThen(sleep, work))
  }

  /** Queues the release of a hold. `row` releases what is left of it. */
  return (row: MeterRow): void => enqueue(row, false)
}
