/**
 * The blocks of credit of one replica: opened where requests come by many, replaced before they are used up, given back when
 * their requests pause. Nobody waits for a block: who finds no room in one reserves with a statement of its own.
 *
 * A replica that dies leaves its blocks open, and the sweep of expired holds gives back what was left of them. What the books
 * did not confirm they are told again (HoldReleaseQueue.ts).
 */
import { Clock, Crypto, Duration, Effect, Fiber } from "effect"
import type { Principal } from "../access/Principal.ts"
import type { NanoUsd } from "../billing/Money.ts"
import { CreditBlock, IDLE_MS, EnvironmentCredit, type CreditLease } from "./CreditBlock.ts"
import { makeHoldReleaseQueue } from "./HoldReleaseQueue.ts"
import { releaseRow, reserveRow } from "./MeterRows.ts"
import type { MeterOutcome, MeterRow } from "./MeteringStore.ts"

/** Environments remembered at most. */
const MAX_PURSES = 10_000
/** How long books that are away are left alone. */
const AGAIN_MS = 1_000
/** No statement is under way for so long: its connection is given up after 30 s of silence. */
const SILENT_MS = 35_000
const IDLE = Duration.millis(IDLE_MS)

/**
 * `send`: a row to the books. What is open is given back when the scope closes, so rows must still go then. `scale`: the
 * replica's.
 */
export const makeCreditBlocks = Effect.fnUntraced(function* (
  send: (row: MeterRow) => Effect.Effect<MeterOutcome>,
  scale: number
) {
  const newId = Effect.orDie((yield* Crypto.Crypto).randomUUIDv7())
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const purses = new Map<string, EnvironmentCredit>()
  const now = () => clock.currentTimeMillisUnsafe()
  const background = (work: Effect.Effect<void>): void => {
    Fiber.runIn(fork(Effect.catchCause(work, (cause) => Effect.logWarning("A block of credit failed", cause))), scope)
  }

  const after = (ms: number) => clock.sleep(Duration.millis(ms * scale))
  const handBack = makeHoldReleaseQueue(send, after(AGAIN_MS), after(SILENT_MS), background)

  const creditOf = ({ environmentId, workspaceId }: Principal): EnvironmentCredit => {
    const known = purses.get(environmentId)
    if (known !== undefined) return known
    if (purses.size >= MAX_PURSES) for (const [id, { empty }] of purses) if (empty) purses.delete(id)
    const purse = new EnvironmentCredit(workspaceId, environmentId)
    purses.set(environmentId, purse)
    return purse
  }

  /** Sends a row; what the books answer of its environment is remembered on the way. A hold that they lose is handed back. */
  const submit = (row: MeterRow, purse: EnvironmentCredit): Effect.Effect<MeterOutcome> => {
    const askedMs = now()
    return Effect.matchCauseEffect(send(row), {
      onSuccess: (outcome) => {
        const { available, budgetReached, room } = outcome
        const free = room !== null && room < available ? room : available
        // A budget that was lowered below what is set aside is as good as reached for who would use a block.
        purse.learn(free, budgetReached || (room !== null && room < 0n), askedMs)
        return Effect.succeed(outcome)
      },
      onFailure: (cause) => {
        if (row.block === undefined) handBack(releaseRow(row.id, purse))
        return Effect.failCause(cause)
      }
    })
  }

  /** Gives back the retired blocks whose requests are through. */
  const close = (purse: EnvironmentCredit): Effect.Effect<void> =>
    Effect.forEach(purse.through(), ({ id }) => submit(releaseRow(id, purse), purse), { discard: true })

  /** Gives back what is set aside for nobody in particular. */
  const giveBack = (purse: EnvironmentCredit): Effect.Effect<void> =>
    Effect.suspend(() => {
      purse.retire()
      return close(purse)
    })

  const open = (purse: EnvironmentCredit, size: NanoUsd) =>
    Effect.flatMap(newId, (id) =>
      Effect.flatMap(submit({ ...reserveRow(id, purse, size), shared: true }, purse), ({ refused }) => {
        if (refused !== null) return Effect.void
        purse.open(new CreditBlock(id, size, now()))
        watch(purse)
        return close(purse)
      })
    ).pipe(Effect.ensuring(Effect.sync(() => (purse.asking = false))))

  const untilIdle = (purse: EnvironmentCredit): Effect.Effect<void> =>
    Effect.flatMap(clock.sleep(IDLE), () => {
      const { current } = purse
      if (current?.underWay === 0 && now() - current.usedMs < IDLE_MS) return untilIdle(purse)
      purse.watched = false
      return current?.underWay === 0 ? Effect.uninterruptible(giveBack(purse)) : Effect.void
    })

  /** Whenever nobody uses the current block, somebody waits to give it back. */
  const watch = (purse: EnvironmentCredit): void => {
    if (purse.watched) return
    purse.watched = true
    background(untilIdle(purse))
  }

  /** Reserves from a block; undefined: there is no room in one. */
  const take = (purse: EnvironmentCredit, amount: NanoUsd): CreditLease | undefined => {
    const nowMs = now()
    const share = purse.take(amount, nowMs)
    const size = purse.wants(amount, nowMs)
    if (size !== undefined) {
      purse.asking = true
      background(Effect.uninterruptible(open(purse, size)))
    }
    return share
  }

  /** A request was charged `charged` of its share, and that is durable. */
  const settled = (purse: EnvironmentCredit, share: CreditLease, charged: NanoUsd): void => {
    const { block } = share
    block.settle(share, charged)
    if (block.underWay > 0) return
    if (block === purse.current) watch(purse)
    else background(Effect.uninterruptible(close(purse)))
  }

  /** Whether its charge is in the books is not known: they say what is left of the block when its requests are through. */
  const lost = (purse: EnvironmentCredit, share: CreditLease): void => {
    if (share.block === purse.current) purse.retire()
    settled(purse, share, share.amount)
  }

  yield* Effect.addFinalizer(() =>
    Effect.forEach(purses.values(), (purse) => Effect.ignoreCause(giveBack(purse)), { discard: true })
  )
  return { creditOf, submit, take, settled, lost, giveBack }
})
