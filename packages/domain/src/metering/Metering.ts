/**
 * Charges requests to models: money is reserved before a model is asked, settled exactly once, and durable before the
 * answer is complete (decisions: Inference surface, Money).
 *
 * Reservations and settlements of all callers share one queue and one statement, so that a hot account is locked once a
 * flush. Both are idempotent: the hold with the request's id is the guard. Under load, requests reserve from a credit
 * block (CreditBlocks.ts), and their usage rows are the guard. If the database loses a settlement, the request fails,
 * costs nothing unless its charge had committed, and its reservation is released (HoldReleaseQueue.ts).
 */
import type { Charge, Reservation, Settlement } from "./Settlement.ts"
import { Clock, Context, Effect, Exit, Layer } from "effect"
import type { BudgetReached, CreditInsufficient } from "../billing/BillingErrors.ts"
import type { NanoUsd } from "../billing/Money.ts"
import * as GroupCommit from "../database/GroupCommit.ts"
import { Replica } from "../database/Replica.ts"
import { retryUnconfirmed } from "../database/StatementRetry.ts"
import { makeCreditBlocks } from "./CreditBlocks.ts"
import { refusalOf, reserveRow, settleRow } from "./MeterRows.ts"
import { makeModelMetrics } from "../models/ModelMetrics.ts"
import { MeteringStore, type MeterOutcome, type MeterRow } from "./MeteringStore.ts"

/**
 * Lifetime of a hold whose request never ends (ms), longer than any answer takes: a hold that expires earlier is
 * released while its request still runs.
 */
export const HOLD_EXPIRES_MS = 30 * 60_000

/**
 * Maximum rows of one statement. The embedded database runs it on the main thread, so a higher value blocks the process
 * for longer.
 */
const MAX_ROWS = 64

export class Metering extends Context.Service<
  Metering,
  {
    /** Reserves `amount`. The environment's budget is checked before the balance. */
    readonly reserve: (
      charge: Charge,
      amount: NanoUsd
    ) => Effect.Effect<Reservation, BudgetReached | CreditInsufficient>
    /**
     * Charges the cost and returns when the charge is durable. The operator's account bears the part of the cost that
     * exceeds the reservation and the balance.
     */
    readonly settle: (settlement: Settlement) => Effect.Effect<void>
  }
>()("@sluice/domain/metering/Metering") {
  static readonly layerNoDeps = Layer.effect(
    Metering,
    Effect.gen(function* () {
      const store = yield* MeteringStore
      const metrics = yield* makeModelMetrics
      const clock = yield* Clock.Clock
      const { scale } = yield* Replica
      const holdExpiresMs = scale * HOLD_EXPIRES_MS
      const flush = (rows: ReadonlyArray<MeterRow>) =>
        Effect.suspend(() => {
          const now = clock.currentTimeMillisUnsafe()
          return retryUnconfirmed(store.flush(rows, now, now + holdExpiresMs))
        }).pipe(
          Effect.orDie,
          Effect.map((outcomes) => outcomes.map((outcome) => Exit.succeed(outcome)))
        )
      const queue = yield* GroupCommit.make<MeterRow, MeterOutcome, never, never>(
        { name: "metering", maxRows: MAX_ROWS, key: (row) => row.accountId, alone: (row) => row.id },
        flush
      )
      const blocks = yield* makeCreditBlocks(queue.submit, scale)

      const reserve = (
        charge: Charge,
        amount: NanoUsd
      ): Effect.Effect<Reservation, BudgetReached | CreditInsufficient> =>
        Effect.suspend(() => {
          const credit = blocks.creditOf(charge.principal)
          const lease = blocks.take(credit, amount)
          if (lease !== undefined) return Effect.succeed({ ...charge, lease })
          const reserveInStore = blocks.submit(reserveRow(charge.id, credit, amount), credit)
          const toReservation = (outcome: MeterOutcome) =>
            outcome.refused === null
              ? Effect.succeed(charge)
              : Effect.fail(refusalOf(outcome, charge.principal, amount))
          return Effect.flatMap(reserveInStore, (outcome) => {
            if (outcome.refused === null || credit.current?.activeRequests !== 0) return toReservation(outcome)
            // An idle block must not be the reason for a refusal: release it and reserve again.
            return Effect.andThen(blocks.releaseBlocks(credit), Effect.flatMap(reserveInStore, toReservation))
          })
        })

      const countCharge = ({ cost, model, tokens }: Settlement) => metrics(model).charged(tokens, cost)

      const settle = (settlement: Settlement): Effect.Effect<void> => {
        const credit = blocks.creditOf(settlement.principal)
        const { cost, lease, tokens } = settlement
        if (lease === undefined) {
          return Effect.map(blocks.submit(settleRow(settlement), credit), () => countCharge(settlement))
        }
        if (tokens === null) {
          return Effect.sync(() => {
            blocks.endLease(credit, lease, 0n)
            countCharge(settlement)
          })
        }
        return Effect.matchCauseEffect(blocks.submit(settleRow(settlement), credit), {
          onSuccess: () => {
            blocks.endLease(credit, lease, cost < lease.amount ? cost : lease.amount)
            countCharge(settlement)
            return Effect.void
          },
          onFailure: (cause) => {
            blocks.endLeaseUnknown(credit, lease)
            return Effect.failCause(cause)
          }
        })
      }

      return { reserve, settle }
    })
  )

  static readonly layer = Metering.layerNoDeps.pipe(Layer.provide(MeteringStore.layer))
}
