/**
 * The loop of every reconciler: claim due rows, step each, sleep until a row is due.
 *
 * The loop takes no input: a signal only wakes it, and a step depends on its stored row alone. The loop wakes by a
 * signal, by the earliest alarm that a commit set, and by a poll. Claims are leases with a fence, renewed while a step
 * runs. If a step dies, the row is claimed again when its lease has ended.
 */
import { Cause, Clock, Effect, Latch, Schedule } from "effect"
import type { Claims } from "./ReconciledStore.ts"
import { Replica } from "./Replica.ts"

export interface Reconciler<Row> {
  /** Wakes the loop: there is work now. */
  readonly signal: () => void
  /** Wakes the loop at `at` (ms of the service's clock). Infinity sets no alarm. */
  readonly alarm: (at: number) => void
  /**
   * Steps all due rows, and those that become due by these steps, until none is due; returns the number of steps. For
   * virtual time.
   */
  readonly tick: Effect.Effect<number>
  /** Runs `step` for a row that is claimed already, and renews the claim meanwhile. Never fails: a fault is logged. */
  readonly stepClaimed: (row: Row, step: Effect.Effect<void>) => Effect.Effect<void>
  /** Runs forever. */
  readonly run: Effect.Effect<never>
}

export interface Options<Row> extends Claims<Row> {
  readonly name: string
  /** Maximum steps at once. */
  readonly slots: number
  readonly step: (row: Row) => Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* <Row extends { readonly id: string }>(options: Options<Row>) {
  const replica = yield* Replica
  const clock = yield* Clock.Clock
  const latch = Latch.makeUnsafe(false)
  const alarms = makeAlarms()
  const claimedIds = new Set<string>()
  let stepping = 0
  /** There may be due rows that no claim has seen. */
  let hasUnseenWork = true
  /** The last claim took as many rows as it asked for, so there may be more. */
  let wasFull = false
  let pollAt = 0

  /** End of the current sleep (ms), if nothing wakes the loop. */
  let sleepsUntil = 0

  const signal = () => {
    hasUnseenWork = true
    latch.openUnsafe()
  }

  const alarm = (at: number) => {
    if (!Number.isFinite(at)) return
    alarms.add(at)
    if (at < sleepsUntil) latch.openUnsafe()
  }

  /** Frees a slot. The step may have set an alarm. */
  const endStep = () => {
    stepping--
    hasUnseenWork ||= wasFull
    latch.openUnsafe()
  }

  const stepClaimed = (row: Row, step: Effect.Effect<void>) =>
    Effect.suspend(() => {
      claimedIds.add(row.id)
      return step
    }).pipe(
      Effect.catchCauseIf(isFault, (cause) => Effect.logError(`${options.name} ${row.id}: step failed`, cause)),
      Effect.ignoreCause,
      Effect.ensuring(Effect.sync(() => void claimedIds.delete(row.id)))
    )

  const runStep = (row: Row) => stepClaimed(row, options.step(row))

  /**
   * Claims due rows. After a fault, returns none after a pause of one poll interval, so that an unavailable database is
   * not queried in a tight loop.
   */
  const claim = (limit: number) =>
    options.claim(limit).pipe(
      Effect.catchCauseIf(
        (cause) => !Cause.hasInterruptsOnly(cause),
        (cause) =>
          Effect.logError(`${options.name}: claim failed`, cause).pipe(
            Effect.andThen(Effect.sleep(replica.lookMs)),
            Effect.as([] as ReadonlyArray<Row>)
          )
      )
    )

  const turn = Effect.gen(function* () {
    yield* latch.close
    const now = clock.currentTimeMillisUnsafe()
    const free = options.slots - stepping
    // If the clock steps back, the poll must not be postponed.
    if (alarms.takeDue(now) || now >= pollAt || pollAt > now + replica.lookMs) hasUnseenWork = true
    if (hasUnseenWork && free > 0) {
      hasUnseenWork = false
      pollAt = now + replica.lookMs
      const rows = yield* claim(free)
      wasFull = rows.length === free
      for (const row of rows) {
        stepping++
        yield* Effect.forkScoped(Effect.ensuring(runStep(row), Effect.sync(endStep)))
      }
    }
    // A signal during the claim still counts, because the claim did not see its row.
    if (hasUnseenWork && stepping < options.slots) return
    // If all slots are taken, the loop sleeps until a step ends.
    const until = stepping < options.slots ? Math.min(alarms.next(), pollAt) : Number.POSITIVE_INFINITY
    const asleep = clock.currentTimeMillisUnsafe()
    const wait = Math.max(0, Math.min(until - asleep, replica.lookMs))
    sleepsUntil = asleep + wait
    yield* Effect.timeoutOption(latch.await, wait)
  })

  const renew = Effect.suspend(() => (claimedIds.size === 0 ? Effect.void : options.renew([...claimedIds]))).pipe(
    Effect.catchCause((cause) => Effect.logError(`${options.name}: renewal failed`, cause)),
    Effect.repeat(Schedule.spaced(replica.leaseMs / 3))
  )

  const tick = Effect.gen(function* () {
    let steps = 0
    for (;;) {
      const rows = yield* claim(options.slots)
      if (rows.length === 0) return steps
      steps += rows.length
      yield* Effect.forEach(rows, runStep, { concurrency: "unbounded", discard: true })
    }
  })

  const run = Effect.scoped(
    Effect.gen(function* () {
      yield* Effect.forkScoped(renew)
      return yield* Effect.forever(turn)
    })
  )

  const reconciler: Reconciler<Row> = { signal, alarm, tick, stepClaimed, run }
  return reconciler
})

const isFault = <E>(cause: Cause.Cause<E>) => !Cause.hasInterruptsOnly(cause)

/** Maximum alarms in memory (about 1 MB). The poll finds the rows of alarms beyond it. */
const MAX_ALARMS = 100_000

/** A binary heap of times. */
const makeAlarms = () => {
  const heap: Array<number> = []
  const swap = (i: number, j: number) => {
    const swapped = heap[i]!
    heap[i] = heap[j]!
    heap[j] = swapped
  }
  const pop = () => {
    const last = heap.pop()!
    if (heap.length === 0) return
    heap[0] = last
    for (let i = 0, child = 1; child < heap.length; i = child, child = 2 * i + 1) {
      if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++
      if (heap[i]! <= heap[child]!) return
      swap(i, child)
    }
  }
  return {
    add: (at: number) => {
      if (heap.length >= MAX_ALARMS) return
      heap.push(at)
      for (let i = heap.length - 1; i > 0 && heap[(i - 1) >> 1]! > heap[i]!; i = (i - 1) >> 1) swap(i, (i - 1) >> 1)
    },
    /** Removes the alarms set for `now` or earlier, and returns whether there were any. */
    takeDue: (now: number): boolean => {
      const before = heap.length
      while (heap.length > 0 && heap[0]! <= now) pop()
      return heap.length < before
    },
    /** The time of the earliest alarm, or Infinity. */
    next: (): number => heap[0] ?? Number.POSITIVE_INFINITY
  }
}
