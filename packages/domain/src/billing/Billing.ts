/** What a workspace has, holds and spent. Every balance is the sum of its entries (decisions: Billing). */
import { Context, Effect, Layer } from "effect"
import type { Principal } from "../access/Principal.ts"
import type { Page, PageRequest } from "../database/Page.ts"
import { BudgetReached } from "./BillingErrors.ts"
import { LedgerStore } from "./LedgerStore.ts"
import type { NanoUsd } from "./Money.ts"

export interface Balance {
  readonly balance: NanoUsd
  readonly held: NanoUsd
  /** What all running machines cost an hour. */
  readonly accruingPerHour: NanoUsd
  /** When the balance is used up at this rate; null when nothing runs. */
  readonly runsOutAt: Date | null
}

export interface Transaction {
  readonly id: string
  readonly kind: "credit" | "machine" | "inference" | "storage" | "adjustment"
  /** Signed: a charge is negative. */
  readonly amount: NanoUsd
  readonly balanceAfter: NanoUsd
  readonly description: string
  readonly resourceType: string | null
  readonly resourceId: string | null
  readonly createdAt: Date
}

export interface UsageSummary {
  readonly requests: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cost: NanoUsd
}

/** What decides whether what is asked for can be paid. */
export interface Funds {
  readonly available: NanoUsd
  readonly budgetReached: boolean
  /** Null: no budget. */
  readonly budgetRemaining: NanoUsd | null
}

export class Billing extends Context.Service<
  Billing,
  {
    readonly balance: (principal: Principal) => Effect.Effect<Balance>
    readonly transactions: (principal: Principal, page: PageRequest) => Effect.Effect<Page<Transaction>>
    /** Inference requests of the UTC days `from` to `to`, both inclusive (`YYYY-MM-DD`). */
    readonly usage: (principal: Principal, from: string, to: string) => Effect.Effect<UsageSummary>
    /** Fails when the environment's budget is spent: the gate that comes before validation. */
    readonly withinBudget: (principal: Principal) => Effect.Effect<void, BudgetReached>
    /** Adds credit once per `reference`: the same again changes nothing. */
    readonly credit: (workspaceId: string, amount: NanoUsd, reference: string) => Effect.Effect<void>
  }
>()("@sluice/domain/billing/Billing") {
  static readonly layer = Layer.effect(
    Billing,
    Effect.map(LedgerStore, (store) =>
      Billing.of({
        balance: (principal) => store.balance(principal.workspaceId),
        transactions: (principal, page) => store.transactions(principal.workspaceId, page),
        usage: (principal, from, to) =>
          store.usage(principal.workspaceId, new Date(`${from}T00:00:00.000Z`), dayAfter(to)),
        withinBudget: Effect.fnUntraced(function* (principal) {
          const { budgetReached } = yield* store.funds(principal)
          if (budgetReached) return yield* new BudgetReached({ environmentName: principal.environmentName })
        }),
        credit: store.credit
      })
    )
  )
}

const DAY_MS = 86_400_000
const dayAfter = (day: string): Date => new Date(Date.parse(`${day}T00:00:00.000Z`) + DAY_MS)
