/**
 * The balance, the holds and the spending of a workspace. Every balance is the sum of its ledger entries (decisions:
 * Billing).
 */
import type { Balance, Transaction } from "./Account.ts"
import type { UsageSummary, UsageBy, UsageGroup } from "./Usage.ts"
import { Context, Effect, Layer } from "effect"
import type { Principal } from "../access/Principal.ts"
import type { Page, PageRequest } from "../database/Page.ts"
import { BudgetReached } from "./BillingErrors.ts"
import { LedgerStore } from "./LedgerStore.ts"
import type { NanoUsd } from "./Money.ts"
import { UsageStore } from "./UsageStore.ts"

export class Billing extends Context.Service<
  Billing,
  {
    readonly balance: (principal: Principal) => Effect.Effect<Balance>
    readonly transactions: (principal: Principal, page: PageRequest) => Effect.Effect<Page<Transaction>>
    /** Sums the inference requests of the UTC days `from` to `to`, both inclusive (`YYYY-MM-DD`). */
    readonly usage: (principal: Principal, from: string, to: string) => Effect.Effect<UsageSummary>
    /** Groups the same requests; the sum of the groups is `usage`. */
    readonly breakdown: (
      principal: Principal,
      by: UsageBy,
      from: string,
      to: string,
      page: PageRequest
    ) => Effect.Effect<Page<UsageGroup>>
    /** Fails if the environment's budget is spent. This check comes before validation. */
    readonly requireBudget: (principal: Principal) => Effect.Effect<void, BudgetReached>
    /** Adds credit once per `reference`: a second call changes nothing. */
    readonly credit: (workspaceId: string, amount: NanoUsd, reference: string) => Effect.Effect<void>
  }
>()("@sluice/domain/billing/Billing") {
  static readonly layer = Layer.effect(
    Billing,
    Effect.map(Effect.all([LedgerStore, UsageStore]), ([store, usageStore]) =>
      Billing.of({
        balance: (principal) => store.balance(principal.workspaceId),
        transactions: (principal, page) => store.transactions(principal.workspaceId, page),
        usage: (principal, from, to) => usageStore.sum(principal.workspaceId, startOf(from), dayAfter(to)),
        breakdown: (principal, by, from, to, page) =>
          usageStore.groups(principal.workspaceId, by, startOf(from), dayAfter(to), page),
        requireBudget: Effect.fnUntraced(function* (principal) {
          const { budgetReached } = yield* store.funds(principal)
          if (budgetReached) return yield* new BudgetReached({ environmentName: principal.environmentName })
        }),
        credit: (workspaceId, amount, reference) => Effect.asVoid(store.credit(workspaceId, amount, reference))
      })
    )
  ).pipe(Layer.provide(UsageStore.layer))
}

const DAY_MS = 86_400_000
const startOf = (day: string): Date => new Date(`${day}T00:00:00.000Z`)
const dayAfter = (day: string): Date => new Date(startOf(day).getTime() + DAY_MS)
