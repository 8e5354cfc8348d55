/** The routes of environments. */
import { InfraApi } from "@sluice/api/InfraApi"
import { environmentToWire } from "@sluice/api/environments/EnvironmentsApi"
import { listOf, pageRequest } from "@sluice/api/infra/Envelope"
import { CurrentPrincipal } from "@sluice/domain/access/Principal"
import { fromUsd } from "@sluice/domain/billing/Money"
import { EnvironmentNotFound } from "@sluice/domain/environments/Environment"
import { Environments } from "@sluice/domain/environments/Environments"
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { BudgetGate } from "../http/BudgetGate.ts"
import { answer, dataOf, withId } from "../http/Answer.ts"

const missing = (id: string) => new EnvironmentNotFound({ environment: id })

export const environmentsHandlers = HttpApiBuilder.group(InfraApi, "environments", (handlers) =>
  Effect.gen(function* () {
    const environments = yield* Environments
    const gate = yield* BudgetGate
    return handlers
      .handle("list", ({ query }) =>
        Effect.flatMap(CurrentPrincipal, (principal) =>
          answer(environments.list(principal, pageRequest(query)), (page, requestId) =>
            listOf(page, environmentToWire, requestId)
          )
        )
      )
      .handle("get", ({ params }) =>
        Effect.flatMap(CurrentPrincipal, (principal) =>
          answer(
            withId(params.id, missing, (id) => environments.get(principal, id)),
            dataOf(environmentToWire)
          )
        )
      )
      .handle("update", ({ params, payload }) =>
        Effect.flatMap(CurrentPrincipal, (principal) => {
          const budget = payload.monthly_budget_usd === null ? null : fromUsd(payload.monthly_budget_usd)
          const updated = withId(params.id, missing, (id) =>
            Effect.tap(environments.setBudget(principal, id, budget), () => gate.forget(id))
          )
          return answer(updated, dataOf(environmentToWire))
        })
      )
  })
)
