/** The routes of money. */
import { InfraApi } from "@sluice/api/InfraApi"
import { balanceToWire, transactionToWire, usageToWire } from "@sluice/api/billing/BillingApi"
import { CurrentPrincipal } from "@sluice/domain/access/Principal"
import { Billing } from "@sluice/domain/billing/Billing"
import { RequestInvalid } from "@sluice/domain/requests/RequestInvalid"
import { Clock, Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { answer, dataOf, page } from "../http/Answer.ts"

export const billingHandlers = HttpApiBuilder.group(InfraApi, "billing", (handlers) =>
  Effect.gen(function* () {
    const billing = yield* Billing
    const usage = Effect.fnUntraced(function* (query: { readonly from?: string; readonly to?: string }) {
      const { from, to } = yield* days(query)
      return yield* billing.usage(yield* CurrentPrincipal, from, to)
    })
    return handlers
      .handle("balance", () =>
        Effect.flatMap(CurrentPrincipal, (principal) => answer(billing.balance(principal), dataOf(balanceToWire)))
      )
      .handle("transactions", page(billing.transactions, transactionToWire))
      .handle("usage", ({ query }) => answer(usage(query), dataOf(usageToWire)))
  })
)

/** The days asked for: what is left out is the start of `to`'s month, and today. */
const days = Effect.fnUntraced(function* (query: { readonly from?: string; readonly to?: string }) {
  const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
  const to = query.to ?? today
  const from = query.from ?? `${to.slice(0, 7)}-01`
  if (from <= to) return { from, to }
  return yield* new RequestInvalid({ issues: [{ path: "from", message: `must not be after \`to\` (${to})` }] })
})
