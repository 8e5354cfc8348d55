/**
 * The credit blocks of one replica. A block is opened when an environment sends many requests, replaced before it is
 * used up, and released when its requests pause. No request waits for a block: if it does not fit in one, it reserves
 * with its own statement.
 *
 * If a replica dies, the sweep of expired holds releases the rest of its blocks. Releases that the database did not
 * confirm are retried (HoldReleaseQueue.ts).
 */
import { Clock, Crypto, Duration, Effect, Fiber } from "effect"
import type { Principal } from "../access/Principal.ts"
import type { NanoUsd } from "../billing/Money.ts"
import { CreditBlock, IDLE_MS, EnvironmentCredit, type CreditLease } from "./CreditBlock.ts"
import { makeHoldReleaseQueue } from "./HoldReleaseQueue.ts"
import { releaseRow, reserveRow } from "./MeterRows.ts"
import type { MeterOutcome, MeterRow } from "./MeteringStore.ts"

/** Environments kept in memory. Above it, environments without a block are dropped. */
const MAX_ENVIRONMENTS = 10_000
/** Pause between two tries while the database is unavailable (ms). */
const RETRY_PAUSE_MS = 1_000
/** No statement is in flight for longer (ms): its connection is closed after 30 s of silence. */
const MAX_STATEMENT_MS = 35_000
const IDLE = Duration.millis(IDLE_MS)

/**
 * `send` writes a row to the store. All blocks are released when the scope closes, so `send` must still work then.
 * `scale`: the replica's.
 */
export const makeCreditBlocks = Effect.fnUntraced(function* (
  send: (row: MeterRow) => Effect.Effect<MeterOutcome>,
  scale: number
) {
  const newId = Effect.orDie((yield* Crypto.Crypto).randomUUIDv7())
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const credits = new Map<string, EnvironmentCredit>()
  const now = () => clock.currentTimeMillisUnsafe()
  const background = (work: Effect.Effect<void>): void => {
    Fiber.runIn(fork(Effect.catchCause(work, (cause) => Effect.logWarning("A credit block failed", cause))), scope)
  }

  const sleepFor = (ms: number) => clock.sleep(Duration.millis(ms * scale))
  const queueRelease = makeHoldReleaseQueue(send, sleepFor(RETRY_PAUSE_MS), sleepFor(MAX_STATEMENT_MS), background)

  const creditOf = ({ environmentId, workspaceId }: Principal): EnvironmentCredit => {
    const existing = credits.get(environmentId)
    if (existing !== undefined) return existing
    if (credits.size >= MAX_ENVIRONMENTS) for (const [id, { isEmpty }] of credits) if (isEmpty) credits.delete(id)
    const credit = new EnvironmentCredit(workspaceId, environmentId)
    credits.set(environmentId, credit)
    return credit
  }

  /**
   * Writes a row, and updates the environment's credit from the result. If the outcome of a request's own hold is
   * unknown, its release is queued.
   */
  const submit = (row: MeterRow, credit: EnvironmentCredit): Effect.Effect<MeterOutcome> => {
    const sentMs = now()
    return Effect.matchCauseEffect(send(row), {
      onSuccess: (outcome) => {
        const { available, budgetReached, room } = outcome
        const free = room !== null && room < available ? room : available
        // A budget below the reserved amount counts as reached, so that no request uses a block.
        credit.recordFunds(free, budgetReached || (room !== null && room < 0n), sentMs)
        return Effect.succeed(outcome)
      },
      onFailure: (cause) => {
        if (row.block === undefined) queueRelease(releaseRow(row.id, credit))
        return Effect.failCause(cause)
      }
    })
  }

  /** Releases the retired blocks that have no active request. */
  const releaseRetired = (credit: EnvironmentCredit): Effect.Effect<void> =>
    Effect.forEach(credit.takeFinished(), ({ id }) => submit(releaseRow(id, credit), credit), { discard: true })

  /** Releases the current block as soon as it has no active request. */
  const releaseBlocks = (credit: EnvironmentCredit): Effect.Effect<void> =>
    Effect.suspend(() => {
      credit.retire()
      return releaseRetired(credit)
    })

  const openBlock = (credit: EnvironmentCredit, size: NanoUsd) =>
    Effect.flatMap(newId, (id) =>
      Effect.flatMap(submit({ ...reserveRow(id, credit, size), shared: true }, credit), ({ refused }) => {
        if (refused !== null) return Effect.void
        credit.open(new CreditBlock(id, size, now()))
        watch(credit)
        return releaseRetired(credit)
      })
    ).pipe(Effect.ensuring(Effect.sync(() => (credit.isOpening = false))))

  const untilIdle = (credit: EnvironmentCredit): Effect.Effect<void> =>
    Effect.flatMap(clock.sleep(IDLE), () => {
      const { current } = credit
      if (current?.activeRequests === 0 && now() - current.usedMs < IDLE_MS) return untilIdle(credit)
      credit.isWatched = false
      return current?.activeRequests === 0 ? Effect.uninterruptible(releaseBlocks(credit)) : Effect.void
    })

  /**
   * Starts the watch that releases the current block when it is idle. A block without active requests always has a
   * watch.
   */
  const watch = (credit: EnvironmentCredit): void => {
    if (credit.isWatched) return
    credit.isWatched = true
    background(untilIdle(credit))
  }

  /** Reserves from the current block; undefined if the amount does not fit. May start to open a new block. */
  const take = (credit: EnvironmentCredit, amount: NanoUsd): CreditLease | undefined => {
    const nowMs = now()
    const lease = credit.take(amount, nowMs)
    const size = credit.nextBlockSize(amount, nowMs)
    if (size !== undefined) {
      credit.isOpening = true
      background(Effect.uninterruptible(openBlock(credit, size)))
    }
    return lease
  }

  /** Ends a lease whose request was charged `charged`, after the charge is durable. */
  const endLease = (credit: EnvironmentCredit, lease: CreditLease, charged: NanoUsd): void => {
    const { block } = lease
    block.settle(lease, charged)
    if (block.activeRequests > 0) return
    if (block === credit.current) watch(credit)
    else background(Effect.uninterruptible(releaseRetired(credit)))
  }

  /**
   * Ends a lease whose charge has an unknown outcome. The block counts all of it as charged; the store knows the rest
   * when the block is released.
   */
  const endLeaseUnknown = (credit: EnvironmentCredit, lease: CreditLease): void => {
    if (lease.block === credit.current) credit.retire()
    endLease(credit, lease, lease.amount)
  }

  yield* Effect.addFinalizer(() =>
    Effect.forEach(credits.values(), (credit) => Effect.ignoreCause(releaseBlocks(credit)), { discard: true })
  )
  return { creditOf, submit, take, endLease, endLeaseUnknown, releaseBlocks }
})
