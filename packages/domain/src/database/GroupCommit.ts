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
import { isStoreAway } from "./StoreAway.ts"
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
    const queues = new Map<string, Array<Waiting<I, O, E>>>()
    let busy = false
    let idle: Array<() => void> = []

    const take = (): Array<Waiting<I, O, E>> => {
      const batch: Array<Waiting<I, O, E>> = []
      const seen = new Set<string>()
      // A key that is set again is visited again at the end of the iteration: round robin, one item a turn.
      for (const [key, queue] of queues) {
        if (batch.length === options.maxRows) break
        const first = queue[0]!
        if (first.alone !== undefined && seen.has(first.alone)) continue
        queue.shift()
        waitingRows.add(-1)
        queues.delete(key)
        if (queue.length > 0) queues.set(key, queue)
        if (first.gone) continue
        batch.push(first)
        if (first.alone !== undefined) seen.add(first.alone)
      }
      return batch
    }

    /** A row that can't even be written down is a bad item like any other. */
    const flushed = (part: ReadonlyArray<Waiting<I, O, E>>) =>
      Effect.suspend(() => flush(part.map((waiting) => waiting.item)))

    const attempt = (part: ReadonlyArray<Waiting<I, O, E>>): Effect.Effect<void, never, R> =>
      Effect.matchCauseEffect(flushed(part), {
        onSuccess: (exits) => Effect.sync(() => part.forEach((waiting, i) => waiting.resume(exits[i]!))),
        onFailure: (cause) => {
          writes.failed(Cause.squash(cause))
          if (part.length === 1 || Cause.hasInterruptsOnly(cause) || isStoreAway(Cause.squash(cause))) {
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
        const key = options.key(item)
        const queue = queues.get(key)
        if (queue === undefined) queues.set(key, [waiting])
        else queue.push(waiting)
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
