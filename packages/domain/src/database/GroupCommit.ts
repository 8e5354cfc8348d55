/**
 * Batches items of many callers into one statement: the items that arrive during a flush are sent together by the next
 * flush.
 *
 * There is no timer and at most one flush in flight. Callers with different `key`s (workspaces) are served round robin,
 * so that a flood of one workspace does not delay another. Items with the same `alone` value never share a flush. A
 * flush that fails as a whole is halved until the bad item fails alone; if the database is unavailable, all its items
 * fail at once. Every flush must be idempotent: it may have committed before its connection broke.
 */
import type { Scope } from "effect"
import { Cause, Effect, Exit } from "effect"
import { Metrics } from "../metrics/Metrics.ts"
import { isUnavailable } from "./StoreFailure.ts"
import { StoreWrites } from "./StoreWrites.ts"

export interface GroupCommit<I, O, E> {
  /**
   * Queues an item and returns its result. An item whose caller is interrupted while it is queued is never sent; in
   * flight it commits, and only its result is dropped.
   */
  readonly submit: (item: I) => Effect.Effect<O, E>
}

interface QueuedItem<I, O, E> {
  readonly item: I
  readonly alone: string | undefined
  readonly resume: (exit: Exit.Exit<O, E>) => void
  isAbandoned: boolean
}

/**
 * The queue of one key. An empty lane is kept: a `Map` whose members come and go keeps garbage alive (SlotArray.ts).
 */
type Lane<I, O, E> = Array<QueuedItem<I, O, E>>

/** Empty lanes kept before they are swept. A higher value costs memory, a lower one costs sweeps and new lanes. */
const MAX_IDLE_LANES = 1_000

export interface Options<I> {
  /** The name in the metrics. */
  readonly name: string
  /** Maximum rows of one flush. */
  readonly maxRows: number
  /** The key of the item's lane. Lanes are served round robin. */
  readonly key: (item: I) => string
  readonly alone?: (item: I) => string | undefined
}

/** `flush` returns one exit per item, in the order of the items. */
export const make = <I, O, E, R>(
  options: Options<I>,
  flush: (items: ReadonlyArray<I>) => Effect.Effect<ReadonlyArray<Exit.Exit<O, E>>, E, R>
): Effect.Effect<GroupCommit<I, O, E>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const run = Effect.runForkWith(yield* Effect.context<R>())
    const metrics = yield* Metrics
    const writes = yield* StoreWrites
    const queuedRows = metrics.commitWaiting.of(options.name)
    const flushedRows = metrics.commitRows.of(options.name)
    const flushes = metrics.commitFlushes.of(options.name)
    const lanes = new Map<string, Lane<I, O, E>>()
    /** Lanes with queued items, in the order of their turns. */
    let readyLanes: Array<Lane<I, O, E>> = []
    let isFlushing = false
    let drainWaiters: Array<() => void> = []

    /** Takes the next batch: round robin over the lanes, one item a turn. */
    const takeBatch = (): Array<QueuedItem<I, O, E>> => {
      const batch: Array<QueuedItem<I, O, E>> = []
      const aloneTaken = new Set<string>()
      const postponed: Array<Lane<I, O, E>> = []
      let at = 0
      for (; at < readyLanes.length && batch.length < options.maxRows; at++) {
        const lane = readyLanes[at]!
        const first = lane[0]!
        if (first.alone !== undefined && aloneTaken.has(first.alone)) {
          postponed.push(lane)
          continue
        }
        lane.shift()
        queuedRows.add(-1)
        if (lane.length > 0) readyLanes.push(lane)
        if (first.isAbandoned) continue
        batch.push(first)
        if (first.alone !== undefined) aloneTaken.add(first.alone)
      }
      readyLanes = postponed.concat(readyLanes.slice(at))
      return batch
    }

    const laneOf = (key: string): Lane<I, O, E> => {
      const existing = lanes.get(key)
      if (existing !== undefined) return existing
      if (lanes.size >= MAX_IDLE_LANES + 2 * readyLanes.length) {
        for (const [other, { length }] of lanes) if (length === 0) lanes.delete(other)
      }
      const lane: Lane<I, O, E> = []
      lanes.set(key, lane)
      return lane
    }

    /** Suspended, so that an item that cannot be encoded fails like any other bad item. */
    const flushItems = (part: ReadonlyArray<QueuedItem<I, O, E>>) =>
      Effect.suspend(() => flush(part.map((queued) => queued.item)))

    const flushOrHalve = (part: ReadonlyArray<QueuedItem<I, O, E>>): Effect.Effect<void, never, R> =>
      Effect.matchCauseEffect(flushItems(part), {
        onSuccess: (exits) => Effect.sync(() => part.forEach((queued, i) => queued.resume(exits[i]!))),
        onFailure: (cause) => {
          writes.recordFailure(Cause.squash(cause))
          if (part.length === 1 || Cause.hasInterruptsOnly(cause) || isUnavailable(Cause.squash(cause))) {
            return Effect.sync(() => part.forEach((queued) => queued.resume(Exit.failCause(cause))))
          }
          const half = part.length >> 1
          return Effect.andThen(flushOrHalve(part.slice(0, half)), flushOrHalve(part.slice(half)))
        }
      })

    const flushNext = () => {
      const batch = takeBatch()
      if (batch.length > 0) {
        flushedRows.add(batch.length)
        flushes.add()
        run(flushOrHalve(batch)).addObserver(flushNext)
        return
      }
      isFlushing = false
      const waiters = drainWaiters
      drainWaiters = []
      for (const waiter of waiters) waiter()
    }

    const drained = Effect.callback<void>((resume) => {
      if (isFlushing) drainWaiters.push(() => resume(Effect.void))
      else resume(Effect.void)
    })

    const submit = (item: I): Effect.Effect<O, E> =>
      Effect.callback<O, E>((resume) => {
        const queued: QueuedItem<I, O, E> = {
          item,
          alone: options.alone?.(item),
          resume: (exit) => resume(exit),
          isAbandoned: false
        }
        const lane = laneOf(options.key(item))
        if (lane.push(queued) === 1) readyLanes.push(lane)
        queuedRows.add()
        if (!isFlushing) {
          isFlushing = true
          run(Effect.yieldNow).addObserver(flushNext)
        }
        return Effect.sync(() => {
          queued.isAbandoned = true
        })
      })

    // The scope waits for the queue before it closes, so that a graceful stop loses no result.
    yield* Effect.addFinalizer(() => drained)
    return { submit }
  })
