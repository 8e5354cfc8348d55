/**
 * The money of a question: reserved before a model is asked, settled exactly once, durable before the answer is complete
 * (decisions: Inference surface, Money).
 *
 * Reservations and settlements of all callers share one queue and one statement, so that a hot account is locked once a
 * flush. Both are safe to repeat: the hold of the request's id is the guard.
 */
import { Clock, Context, Effect, Exit, Layer, Schedule } from "effect"
import type { Principal } from "../access/Principal.ts"
import { BudgetReached, CreditInsufficient } from "../billing/BillingErrors.ts"
import type { NanoUsd } from "../billing/Money.ts"
import * as GroupCommit from "../database/GroupCommit.ts"
import { Replica } from "../database/Replica.ts"
import { MeteringStore, type MeterOutcome, type MeterRow } from "./MeteringStore.ts"

/** When a hold whose request never ended is released, in polls of the replica: 30 minutes, longer than any answer takes. */
export const HOLD_EXPIRES_POLLS = 1_800

/** Rows of one statement: on the embedded database it runs on the main thread. */
const MAX_ROWS = 64

/** A flush that broke may have committed; repeating it changes nothing more. */
const RETRY = { times: 1, schedule: Schedule.exponential("50 millis") }

/** One request's money. `id` is its hold, usage row and transaction. */
export interface Charge {
  readonly id: string
  readonly principal: Principal
}

/** What a request came to. `tokens` null: nothing was delivered, the hold is released and nothing is counted. */
export interface Settlement extends Charge {
  readonly model: string
  /** What the bill calls it; left out: a chat. */
  readonly description?: string
  /** The id that the caller knows the request by. */
  readonly requestId: string
  readonly tokens: { readonly prompt: number; readonly completion: number } | null
  readonly cost: NanoUsd
}

export class Metering extends Context.Service<
  Metering,
  {
    /** Holds `amount`; the environment's budget is checked first. */
    readonly reserve: (charge: Charge, amount: NanoUsd) => Effect.Effect<void, BudgetReached | CreditInsufficient>
    /** Returns when the charge is durable. What passes the hold and the balance is borne by the operator. */
    readonly settle: (settlement: Settlement) => Effect.Effect<void>
  }
>()("@sluice/domain/inference/Metering") {
  static readonly layerNoDeps = Layer.effect(
    Metering,
    Effect.gen(function* () {
      const store = yield* MeteringStore
      const holdExpiresMs = (yield* Replica).pollMs * HOLD_EXPIRES_POLLS
      const flush = (rows: ReadonlyArray<MeterRow>) =>
        Clock.clockWith((clock) => {
          const now = clock.currentTimeMillisUnsafe()
          return Effect.retry(store.flush(rows, now, now + holdExpiresMs), RETRY)
        }).pipe(
          Effect.orDie,
          Effect.map((outcomes) => outcomes.map((outcome) => Exit.succeed(outcome)))
        )
      const queue = yield* GroupCommit.make<MeterRow, MeterOutcome, never, never>(
        { maxRows: MAX_ROWS, key: (row) => row.accountId, alone: (row) => row.id },
        flush
      )

      const reserve = ({ id, principal }: Charge, amount: NanoUsd) =>
        Effect.flatMap(queue.submit(reserveRow(id, principal, amount)), (outcome) =>
          outcome.refused === null ? Effect.void : Effect.fail(refusal(outcome, principal, amount))
        )
      const settle = (settlement: Settlement) => Effect.asVoid(queue.submit(settleRow(settlement)))
      return { reserve, settle }
    })
  )

  static readonly layer = Metering.layerNoDeps.pipe(Layer.provide(MeteringStore.layer))
}

const refusal = (outcome: MeterOutcome, principal: Principal, required: NanoUsd) =>
  outcome.refused === "budget_reached"
    ? new BudgetReached({ environmentName: principal.environmentName })
    : new CreditInsufficient({ required, available: outcome.available })

const reserveRow = (id: string, principal: Principal, amount: NanoUsd): MeterRow => ({
  settle: false,
  id,
  accountId: principal.workspaceId,
  environmentId: principal.environmentId,
  keyId: principal.keyId,
  amount,
  model: "",
  description: "",
  requestId: "",
  tokensIn: null,
  tokensOut: null
})

const settleRow = (settlement: Settlement): MeterRow => ({
  settle: true,
  id: settlement.id,
  accountId: settlement.principal.workspaceId,
  environmentId: settlement.principal.environmentId,
  keyId: settlement.principal.keyId,
  amount: settlement.cost,
  model: settlement.model,
  description: settlement.description ?? `Chat with ${settlement.model}`,
  requestId: settlement.requestId,
  tokensIn: settlement.tokens?.prompt ?? null,
  tokensOut: settlement.tokens?.completion ?? null
})
