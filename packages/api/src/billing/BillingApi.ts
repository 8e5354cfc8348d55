/**
 * The contract of billing: balance, transactions, usage of inference (decisions: Billing; interface: GET
 * /billing/usage).
 */
import { transactionKinds } from "@sluice/domain/billing/Account"
import type { Balance, Transaction } from "@sluice/domain/billing/Account"
import type { UsageBy, UsageGroup, UsageSummary } from "@sluice/domain/billing/Usage"
import { toUsd } from "@sluice/domain/billing/Money"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { Authorized, NeedsScope, WellFormed } from "../access/InfraAccess.ts"
import { about, data, environmentQuery, groupsQuery, list, listQuery } from "../infra/Envelope.ts"
import { Unprocessable } from "../infra/InfraErrors.ts"
import { DateTime, isDay, iso, isoOrNull, nullable, Usd } from "../infra/WireFields.ts"

const BalanceWire = Schema.Struct({
  balance_usd: Usd,
  held_usd: Usd,
  available_usd: Usd,
  accruing_usd_per_hour: Usd,
  runs_out_at: nullable(DateTime)
}).annotate({ identifier: "Balance" })

export const balanceToWire = (balance: Balance): typeof BalanceWire.Type => ({
  balance_usd: toUsd(balance.balance),
  held_usd: toUsd(balance.held),
  available_usd: toUsd(balance.balance - balance.held),
  accruing_usd_per_hour: toUsd(balance.accruingPerHour),
  runs_out_at: isoOrNull(balance.runsOutAt)
})

const TransactionWire = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(transactionKinds),
  amount_usd: Usd.annotate({ description: "Signed: a charge is negative." }),
  balance_after_usd: Usd,
  description: Schema.String,
  resource_type: nullable(Schema.String),
  resource_id: nullable(Schema.String),
  created_at: DateTime
}).annotate({ identifier: "Transaction" })

export const transactionToWire = (transaction: Transaction): typeof TransactionWire.Type => ({
  id: transaction.id,
  kind: transaction.kind,
  amount_usd: toUsd(transaction.amount),
  balance_after_usd: toUsd(transaction.balanceAfter),
  description: transaction.description,
  resource_type: transaction.resourceType,
  resource_id: transaction.resourceId,
  created_at: iso(transaction.createdAt)
})

const UsageWire = Schema.Struct({
  total_requests: Schema.Int,
  total_prompt_tokens: Schema.Int,
  total_completion_tokens: Schema.Int,
  total_tokens: Schema.Int,
  total_cost: Usd
}).annotate({ identifier: "UsageSummary" })

export const usageToWire = (usage: UsageSummary): typeof UsageWire.Type => ({
  total_requests: usage.requests,
  total_prompt_tokens: usage.promptTokens,
  total_completion_tokens: usage.completionTokens,
  total_tokens: usage.promptTokens + usage.completionTokens,
  total_cost: toUsd(usage.cost)
})

const UsageGroupWire = Schema.Struct({
  group: Schema.String.annotate({
    description: "The common property of its requests: a UTC date, a model, or the id of an API key or environment."
  }),
  name: nullable(Schema.String, "Name of the API key or environment; null where it is deleted."),
  ...UsageWire.fields
}).annotate({ identifier: "UsageGroup" })

export const usageGroupToWire = (group: UsageGroup): typeof UsageGroupWire.Type => ({
  group: group.id,
  name: group.name,
  ...usageToWire(group)
})

const dayRule = "must be a date, like 2026-01-31"
/** An existing UTC day: 2026-02-30 is invalid. */
const Day = Schema.String.annotate({ format: "date" }).check(
  Schema.makeFilter((text: string) => (/^[1-9]/.test(text) && isDay(text) ? undefined : dayRule))
)

const days = {
  from: Schema.optionalKey(Day.annotate({ description: "First UTC day; default: the first of the current month." })),
  to: Schema.optionalKey(Day.annotate({ description: "Last UTC day, inclusive; default: today." }))
}

const by = ["day", "model", "key", "environment"] as const satisfies ReadonlyArray<UsageBy>

const balance = HttpApiEndpoint.get("balance", "/balance", { query: environmentQuery, success: data(BalanceWire) })
  .annotate(NeedsScope, "billing:read")
  .annotateMerge(about("getBalance", "Get the balance, the holds and the hourly cost of running machines"))

const transactions = HttpApiEndpoint.get("transactions", "/transactions", {
  query: listQuery,
  success: list(TransactionWire)
})
  .annotate(NeedsScope, "billing:read")
  .annotateMerge(about("listTransactions", "List credits and charges, newest first"))

const usage = HttpApiEndpoint.get("usage", "/usage", {
  query: { ...environmentQuery, ...days },
  success: data(UsageWire),
  error: Unprocessable
})
  .annotate(NeedsScope, "billing:read")
  .annotateMerge(about("getUsage", "Inference requests, tokens and cost over UTC days"))

const breakdown = HttpApiEndpoint.get("usageBreakdown", "/usage/breakdown", {
  query: {
    ...groupsQuery,
    by: Schema.optionalKey(Schema.Literals(by).annotate({ description: "Default: `day`." })),
    ...days
  },
  success: list(UsageGroupWire),
  error: Unprocessable
})
  .annotate(NeedsScope, "billing:read")
  .annotateMerge(
    about(
      "listUsageBreakdown",
      "The same usage by day, model, API key or environment",
      "Groups add up to the usage of the same days. Days are sorted newest first, other groups by `group`."
    )
  )

export class BillingApi extends HttpApiGroup.make("billing")
  .add(balance, transactions, usage, breakdown)
  .middleware(WellFormed)
  .middleware(Authorized)
  .prefix("/api/v1/billing") {}
