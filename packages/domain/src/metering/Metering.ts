/**
 * The money of a question: reserved before a model is asked, settled exactly once, durable before the answer is complete
 * (decisions: Inference surface, Money).
 *
 * Reservations and settlements of all callers share one queue and one statement, so that a hot account is locked once a
 * flush. Both are safe to repeat: the hold of the request's id is the guard. Where many requests come at once they reserve
 * from a block of credit (CreditBlocks.ts), and their usage rows are the guard. A request that the books lost fails, costs
 * nothing unless its charge had come through, and what was set aside for it is handed back (HoldReleaseQueue.ts).
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

/** When a hold whose request never ended is released: longer than any answer takes. */
export const HOLD_EXPIRES_MS = 30 * 60_000

/** Rows of one statement: on the embedded database it runs on the main thread. */
const MAX_ROWS = 64

export class Metering extends Context.Service<
  Metering,
  {
    /** Sets `amount` aside; the environment's budget is checked first. */
    readonly reserve: (
      charge: Charge,
      amount: NanoUsd
    ) => Effect.Effect<Reservation, BudgetReached | CreditInsufficient>
    /** Returns when the charge is durable. What passes the reservation and the balance is borne by the operator. */
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
          const purse = blocks.creditOf(charge.principal)
          const share = blocks.take(purse, amount)
          if (share !== undefined) return Effect.succeed({ ...charge, share })
          const ask = blocks.submit(reserveRow(charge.id, purse, amount), purse)
          const told = (outcome: MeterOutcome) =>
            outcome.refused === null
              ? Effect.succeed(charge)
              : Effect.fail(refusalOf(outcome, charge.principal, amount))
          return Effect.flatMap(ask, (outcome) => {
            if (outcome.refused === null || purse.current?.underWay !== 0) return told(outcome)
            // An idle block must not be why a request is refused: give it back and ask again.
            return Effect.andThen(blocks.giveBack(purse), Effect.flatMap(ask, told))
          })
        })

      const charged = ({ cost, model, tokens }: Settlement) => metrics(model).charged(tokens, cost)

      const settle = (settlement: Settlement): Effect.Effect<void> => {
        const purse = blocks.creditOf(settlement.principal)
        const { cost, share, tokens } = settlement
        if (share === undefined) {
          return Effect.map(blocks.submit(settleRow(settlement), purse), () => charged(settlement))
        }
        if (tokens === null) {
          return Effect.sync(() => {
            blocks.settled(purse, share, 0n)
            charged(settlement)
          })
        }
        return Effect.matchCauseEffect(blocks.submit(settleRow(settlement), purse), {
          onSuccess: () => {
            blocks.settled(purse, share, cost < share.amount ? cost : share.amount)
            charged(settlement)
            return Effect.void
          },
          onFailure: (cause) => {
            blocks.lost(purse, share)
            return Effect.failCause(cause)
          }
        })
      }

      return { reserve, settle }
    })
  )

  static readonly layer = Metering.layerNoDeps.pipe(Layer.provide(MeteringStore.layer))
}
