/** The routes of API keys. */
import { InfraApi } from "@sluice/api/InfraApi"
import { apiKeyToWire } from "@sluice/api/access/ApiKeysApi"
import { listOf, pageRequest } from "@sluice/api/infra/Envelope"
import { ApiKeyNotFound } from "@sluice/domain/access/AccessErrors"
import { ApiKeys } from "@sluice/domain/access/ApiKeys"
import { CurrentPrincipal } from "@sluice/domain/access/Principal"
import { CurrentAttempt } from "@sluice/domain/idempotency/Idempotency"
import { Effect, Redacted } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { answer, dataOf, withId } from "../http/Answer.ts"

const missing = (id: string) => new ApiKeyNotFound({ id })

export const apiKeysHandlers = HttpApiBuilder.group(InfraApi, "apiKeys", (handlers) =>
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    return handlers
      .handle("list", ({ query }) =>
        Effect.flatMap(CurrentPrincipal, (principal) =>
          answer(keys.list(principal, pageRequest(query)), (page, requestId) => listOf(page, apiKeyToWire, requestId))
        )
      )
      .handle(
        "create",
        Effect.fnUntraced(function* ({ payload }) {
          const request = {
            name: payload.name,
            scopes: payload.scopes ?? null,
            environmentId: payload.environment_id?.toLowerCase() ?? null,
            rateLimitRpm: payload.rate_limit_rpm ?? undefined
          }
          return yield* answer(
            keys.create(yield* CurrentPrincipal, request, (yield* CurrentAttempt)?.id),
            ({ apiKey, key }) => ({
              data: { ...apiKeyToWire(apiKey), key: Redacted.value(key) }
            })
          )
        })
      )
      .handle("update", ({ params, payload }) =>
        Effect.flatMap(CurrentPrincipal, (principal) => {
          const change = { name: payload.name, status: payload.status, rateLimitRpm: payload.rate_limit_rpm }
          return answer(
            withId(params.id, missing, (id) => keys.update(principal, id, change)),
            dataOf(apiKeyToWire)
          )
        })
      )
      .handle("remove", ({ params }) =>
        Effect.flatMap(CurrentPrincipal, (principal) =>
          answer(
            withId(params.id, missing, (id) => keys.remove(principal, id)),
            () => undefined
          )
        )
      )
  })
)
