/**
 * The loop of every reconciler: claim due rows, step each, sleep until something is due.
 *
 * It takes no input: a signal only wakes it, and what a step does depends on its stored row alone. It wakes by signal, by
 * the earliest alarm that a commit set, and by a poll. Claims are leases with a fence, renewed while a step runs; a step
 * that dies leaves its row to whoever claims it when the lease has run out.
 */
import { Cause, Clock, Effect, Latch, Schedule } from "effect"
import type { Claims } from "./ReconciledStore.ts"
import { Replica } from "./Replica.ts"

export interface Reconciler<Row> {
  /** There is work now. */
  readonly signal: () => void
  /** There will be work at this time (ms); Infinity: there will be none. */
  readonly alarm: (at: number) => void
  /** Steps all that is due, and what becomes due by it, until nothing is; answers how many steps. For virtual time. */
  readonly tick: Effect.Effect<number>
  /** Does something to a row that is claimed already, renewing the claim meanwhile. Never fails: a fault is logged. */
  readonly holding: (row: Row, step: Effect.Effect<void>) => Effect.Effect<void>
  /** Runs for ever. */
  readonly run: Effect.Effect<never>
}

export interface Options<Row> extends Claims<Row> {
  readonly name: string
  /** Steps at once. */
  readonly slots: number
  readonly step: (row: Row) => Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* <Row extends { readonly id: string }>(options: Options<Row>) {
  const replica = yield* Replica
  const clock = yield* Clock.Clock
  const latch = Latch.makeUnsafe(false)
  const alarms = makeAlarms()
  const held = new Set<string>()
  let stepping = 0
  /** There may be due rows that no claim has seen. */
  let news = true
  /** The last claim took all that it could. */
  let full = false
  let pollAt = 0

  /** Until when the loop sleeps if nothing wakes it. */
  let sleepsUntil = 0

  const signal = () => {
    news = true
    latch.openUnsafe()
  }

  const alarm = (at: number) => {
    if (!Number.isFinite(at)) return
    alarms.add(at)
    if (at < sleepsUntil) latch.openUnsafe()
  }

  /** A slot is free, and the step may have set an alarm. */
  const stepped = () => {
    stepping--
    news ||= full
    latch.openUnsafe()
  }

  const holding = (row: Row, step: Effect.Effect<void>) =>
    Effect.suspend(() => {
      held.add(row.id)
      return step
    }).pipe(
      Effect.catchCauseIf(isFault, (cause) => Effect.logError(`${options.name} ${row.id}: step failed`, cause)),
      Effect.ignoreCause,
      Effect.ensuring(Effect.sync(() => void held.delete(row.id)))
    )

  const guarded = (row: Row) => holding(row, options.step(row))

  /** What is due; after a fault nothing for a while, so that a database that is away is not asked without pause. */
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
    // A clock that went back must not put the poll off.
    if (alarms.rang(now) || now >= pollAt || pollAt > now + replica.lookMs) news = true
    if (news && free > 0) {
      news = false
      pollAt = now + replica.lookMs
      const rows = yield* claim(free)
      full = rows.length === free
      for (const row of rows) {
        stepping++
        yield* Effect.forkScoped(Effect.ensuring(guarded(row), Effect.sync(stepped)))
      }
    }
    // What came during the claim still counts: the claim did not see its row.
    if (news && stepping < options.slots) return
    // With all slots taken it is a step's end that is waited for.
    const until = stepping < options.slots ? Math.min(alarms.next(), pollAt) : Number.POSITIVE_INFINITY
    const asleep = clock.currentTimeMillisUnsafe()
    const wait = Math.max(0, Math.min(until - asleep, replica.lookMs))
    sleepsUntil = asleep + wait
    yield* Effect.timeoutOption(latch.await, wait)
  })

  const renew = Effect.suspend(() => (held.size === 0 ? Effect.void : options.renew([...held]))).pipe(
    Effect.catchCause((cause) => Effect.logError(`${options.name}: renewal failed`, cause)),
    Effect.repeat(Schedule.spaced(replica.leaseMs / 3))
  )

  const tick = Effect.gen(function* () {
    let steps = 0
    for (;;) {
      const rows = yield* claim(options.slots)
      if (rows.length === 0) return steps
      steps += rows.length
      yield* Effect.forEach(rows, guarded, { concurrency: "unbounded", discard: true })
    }
  })

  const run = Effect.scoped(
    Effect.gen(function* () {
      yield* Effect.forkScoped(renew)
      return yield* Effect.forever(turn)
    })
  )

  const reconciler: Reconciler<Row> = { signal, alarm, tick, holding, run }
  return reconciler
})

const isFault = <E>(cause: Cause.Cause<E>) => !Cause.hasInterruptsOnly(cause)

/** At most this many alarms are remembered; the poll finds what was forgotten. */
const MAX_ALARMS = 100_000

/** A binary heap of times. */
const makeAlarms = () => {
  const heap: Array<number> = []
  const swap = (i: number, j: number) => {
    const kept = heap[i]!
    heap[i] = heap[j]!
    heap[j] = kept
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
    /** Whether one was set for `now` or before; it rings once. */
    rang: (now: number): boolean => {
      const before = heap.length
      while (heap.length > 0 && heap[0]! <= now) pop()
      return heap.length < before
    },
    /** The earliest. */
    next: (): number => heap[0] ?? Number.POSITIVE_INFINITY
  }
}
