/** The routes of billing. */
import { InfraApi } from "@sluice/api/InfraApi"
import { balanceToWire, transactionToWire, usageGroupToWire, usageToWire } from "@sluice/api/billing/BillingApi"
import { CurrentPrincipal, type Principal } from "@sluice/domain/access/Principal"
import { Billing } from "@sluice/domain/billing/Billing"
import { type UsageBy } from "@sluice/domain/billing/Usage"
import type { PageRequest } from "@sluice/domain/database/Page"
import { RequestInvalid } from "@sluice/domain/requests/RequestInvalid"
import { Clock, Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { answer, dataOf, page } from "../http/Answer.ts"

export const billingHandlers = HttpApiBuilder.group(InfraApi, "billing", (handlers) =>
  Effect.gen(function* () {
    const billing = yield* Billing
    const usage = Effect.fnUntraced(function* (query: Days) {
      const { from, to } = yield* days(query)
      return yield* billing.usage(yield* CurrentPrincipal, from, to)
    })
    const breakdown = Effect.fnUntraced(function* (principal: Principal, page: PageRequest, query: Days & Groups) {
      const { from, to } = yield* days(query)
      return yield* billing.breakdown(principal, query.by ?? "day", from, to, page)
    })
    return handlers
      .handle("balance", () =>
        Effect.flatMap(CurrentPrincipal, (principal) => answer(billing.balance(principal), dataOf(balanceToWire)))
      )
      .handle("transactions", page(billing.transactions, transactionToWire))
      .handle("usage", ({ query }) => answer(usage(query), dataOf(usageToWire)))
      .handle("usageBreakdown", page(breakdown, usageGroupToWire))
  })
)

interface Days {
  readonly from?: string
  readonly to?: string
}

interface Groups {
  readonly by?: UsageBy
  readonly limit?: number
  readonly cursor?: string
}

/** Returns the requested days. `from` defaults to the first day of `to`'s month, and `to` to today. */
const days = Effect.fnUntraced(function* (query: Days) {
  const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
  const to = query.to ?? today
  const from = query.from ?? `${to.slice(0, 7)}-01`
  if (from <= to) return { from, to }
  return yield* new RequestInvalid({ issues: [{ path: "from", message: `must not be after \`to\` (${to})` }] })
})
