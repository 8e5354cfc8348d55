/** The contract of environments: list, get, set the monthly budget (decisions: Environments). */
import { toUsd } from "@sluice/domain/billing/Money"
import type { Environment } from "@sluice/domain/environments/Environment"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { Authorized, NeedsScope, WellFormed } from "../access/InfraAccess.ts"
import { about, data, environmentQuery, list, listQuery } from "../infra/Envelope.ts"
import { NotFound } from "../infra/InfraErrors.ts"
import { DateTime, idParams, iso, nullable, required, Usd, withDefault } from "../infra/WireFields.ts"

/** A higher amount would not fit into a balance. */
const MAX_BUDGET_USD = 1_000_000_000

const EnvironmentWire = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  is_default: Schema.Boolean,
  monthly_budget_usd: nullable(Usd),
  month_spent_usd: Usd,
  budget_resets_at: DateTime,
  secret_names: withDefault(Schema.Array(Schema.String), []),
  created_at: DateTime
}).annotate({ identifier: "Environment" })

export const environmentToWire = (environment: Environment): typeof EnvironmentWire.Type => ({
  id: environment.id,
  name: environment.name,
  is_default: environment.isDefault,
  monthly_budget_usd: environment.monthlyBudget === null ? null : toUsd(environment.monthlyBudget),
  month_spent_usd: toUsd(environment.monthSpent),
  budget_resets_at: iso(environment.budgetResetsAt),
  secret_names: [],
  created_at: iso(environment.createdAt)
})

const budgetRule = {
  message: `must be null or a number of USD from 0 to ${MAX_BUDGET_USD}`
}

const EnvironmentChange = Schema.Struct({
  monthly_budget_usd: Schema.NullOr(
    Schema.Finite.annotate(budgetRule).check(
      Schema.isBetween({ minimum: 0, maximum: MAX_BUDGET_USD }, budgetRule),
      // An amount below the smallest unit must not become a budget of zero.
      Schema.makeFilter((usd: number) => (usd === 0 || usd >= 1e-9 ? undefined : budgetRule.message))
    )
  )
    .annotate({ ...budgetRule, description: "USD per UTC month; null removes the budget." })
    .annotateKey(required)
}).annotate({ identifier: "EnvironmentChange" })

const listEnvironments = HttpApiEndpoint.get("list", "/", { query: listQuery, success: list(EnvironmentWire) })
  .annotate(NeedsScope, "environments:read")
  .annotateMerge(about("listEnvironments", "List environments, newest first"))

const get = HttpApiEndpoint.get("get", "/:id", {
  params: idParams,
  query: environmentQuery,
  success: data(EnvironmentWire),
  error: NotFound
})
  .annotate(NeedsScope, "environments:read")
  .annotateMerge(about("getEnvironment", "Get an environment"))

const update = HttpApiEndpoint.patch("update", "/:id", {
  params: idParams,
  query: environmentQuery,
  payload: EnvironmentChange,
  success: data(EnvironmentWire),
  error: NotFound
})
  .annotate(NeedsScope, "environments:write")
  .annotateMerge(about("updateEnvironment", "Set or clear the monthly budget"))

export class EnvironmentsApi extends HttpApiGroup.make("environments")
  .add(listEnvironments, get, update)
  .middleware(WellFormed)
  .middleware(Authorized)
  .prefix("/api/v1/environments") {}
