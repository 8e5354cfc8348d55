/** The routes of environments. */
import { InfraApi } from "@sluice/api/InfraApi"
import { environmentToWire } from "@sluice/api/environments/EnvironmentsApi"
import { fromUsd } from "@sluice/domain/billing/Money"
import { EnvironmentNotFound } from "@sluice/domain/environments/Environment"
import { Environments } from "@sluice/domain/environments/Environments"
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { BudgetGate } from "../billing/BudgetGate.ts"
import { dataOf, one, page } from "../http/Answer.ts"

const missing = (id: string) => new EnvironmentNotFound({ environment: id })

export const environmentsHandlers = HttpApiBuilder.group(InfraApi, "environments", (handlers) =>
  Effect.gen(function* () {
    const environments = yield* Environments
    const gate = yield* BudgetGate
    return handlers
      .handle("list", page(environments.list, environmentToWire))
      .handle("get", one(missing, environments.get, dataOf(environmentToWire)))
      .handle(
        "update",
        one(
          missing,
          (principal, id, { payload }) => {
            const budget = payload.monthly_budget_usd === null ? null : fromUsd(payload.monthly_budget_usd)
            return Effect.tap(environments.setBudget(principal, id, budget), () => gate.forget(id))
          },
          dataOf(environmentToWire)
        )
      )
  })
)
