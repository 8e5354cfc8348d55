/**
 * Many callers, one statement: what arrives while a flush is in flight goes out together as the next one.
 *
 * No timer, one flush in flight. Callers with another `key` (a workspace) take turns, so a flood of one does not keep
 * another waiting. Items with the same `alone` value never share a flush. A flush that fails as a whole is halved until
 * the bad item fails alone; where the database is away, all fail at once. So every flush must be repeatable: it may have
 * committed before its connection broke.
 */
import type { Scope } from "effect"
import { Cause, Effect, Exit } from "effect"
import { Metrics } from "../metrics/Metrics.ts"
import { isUnavailable } from "./StoreFailure.ts"
import { StoreWrites } from "./StoreWrites.ts"

export interface GroupCommit<I, O, E> {
  /** Interrupted while queued: never sent. In flight: it commits, only the answer is dropped. */
  readonly submit: (item: I) => Effect.Effect<O, E>
}

interface Waiting<I, O, E> {
  readonly item: I
  readonly alone: string | undefined
  readonly resume: (exit: Exit.Exit<O, E>) => void
  gone: boolean
}

/** What waits of one key. It stays when it is empty: what comes and goes in a `Map` may outlive its time (FiberPool.ts). */
type Lane<I, O, E> = Array<Waiting<I, O, E>>

/** Empty lanes that are kept, at least. */
const MAX_IDLE_LANES = 1_000

export interface Options<I> {
  /** What it is called where it is counted. */
  readonly name: string
  /** Rows of one flush at most. */
  readonly maxRows: number
  /** Whose turn it is: one queue per key, served round robin. */
  readonly key: (item: I) => string
  readonly alone?: (item: I) => string | undefined
}

/** `flush` answers one exit per item, in order. */
export const make = <I, O, E, R>(
  options: Options<I>,
  flush: (items: ReadonlyArray<I>) => Effect.Effect<ReadonlyArray<Exit.Exit<O, E>>, E, R>
): Effect.Effect<GroupCommit<I, O, E>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const run = Effect.runForkWith(yield* Effect.context<R>())
    const metrics = yield* Metrics
    const writes = yield* StoreWrites
    const waitingRows = metrics.commitWaiting.of(options.name)
    const flushedRows = metrics.commitRows.of(options.name)
    const flushes = metrics.commitFlushes.of(options.name)
    const lanes = new Map<string, Lane<I, O, E>>()
    /** Those where something waits, in the order of their turns. */
    let turns: Array<Lane<I, O, E>> = []
    let busy = false
    let idle: Array<() => void> = []

    /** Round robin, one item a turn. */
    const take = (): Array<Waiting<I, O, E>> => {
      const batch: Array<Waiting<I, O, E>> = []
      const seen = new Set<string>()
      const passedOver: Array<Lane<I, O, E>> = []
      let at = 0
      for (; at < turns.length && batch.length < options.maxRows; at++) {
        const lane = turns[at]!
        const first = lane[0]!
        if (first.alone !== undefined && seen.has(first.alone)) {
          passedOver.push(lane)
          continue
        }
        lane.shift()
        waitingRows.add(-1)
        if (lane.length > 0) turns.push(lane)
        if (first.gone) continue
        batch.push(first)
        if (first.alone !== undefined) seen.add(first.alone)
      }
      turns = passedOver.concat(turns.slice(at))
      return batch
    }

    const laneOf = (key: string): Lane<I, O, E> => {
      const known = lanes.get(key)
      if (known !== undefined) return known
      if (lanes.size >= MAX_IDLE_LANES + 2 * turns.length) {
        for (const [other, { length }] of lanes) if (length === 0) lanes.delete(other)
      }
      const lane: Lane<I, O, E> = []
      lanes.set(key, lane)
      return lane
    }

    /** A row that can't even be written down is a bad item like any other. */
    const flushed = (part: ReadonlyArray<Waiting<I, O, E>>) =>
      Effect.suspend(() => flush(part.map((waiting) => waiting.item)))

    const attempt = (part: ReadonlyArray<Waiting<I, O, E>>): Effect.Effect<void, never, R> =>
      Effect.matchCauseEffect(flushed(part), {
        onSuccess: (exits) => Effect.sync(() => part.forEach((waiting, i) => waiting.resume(exits[i]!))),
        onFailure: (cause) => {
          writes.failed(Cause.squash(cause))
          if (part.length === 1 || Cause.hasInterruptsOnly(cause) || isUnavailable(Cause.squash(cause))) {
            return Effect.sync(() => part.forEach((waiting) => waiting.resume(Exit.failCause(cause))))
          }
          const half = part.length >> 1
          return Effect.andThen(attempt(part.slice(0, half)), attempt(part.slice(half)))
        }
      })

    const next = () => {
      const batch = take()
      if (batch.length > 0) {
        flushedRows.add(batch.length)
        flushes.add()
        run(attempt(batch)).addObserver(next)
        return
      }
      busy = false
      const waiters = idle
      idle = []
      for (const waiter of waiters) waiter()
    }

    const drained = Effect.callback<void>((resume) => {
      if (busy) idle.push(() => resume(Effect.void))
      else resume(Effect.void)
    })

    const submit = (item: I): Effect.Effect<O, E> =>
      Effect.callback<O, E>((resume) => {
        const waiting: Waiting<I, O, E> = {
          item,
          alone: options.alone?.(item),
          resume: (exit) => resume(exit),
          gone: false
        }
        const lane = laneOf(options.key(item))
        if (lane.push(waiting) === 1) turns.push(lane)
        waitingRows.add()
        if (!busy) {
          busy = true
          run(Effect.yieldNow).addObserver(next)
        }
        return Effect.sync(() => {
          waiting.gone = true
        })
      })

    // A scope that closes waits for what is queued, so that a graceful stop loses no answer.
    yield* Effect.addFinalizer(() => drained)
    return { submit }
  })
