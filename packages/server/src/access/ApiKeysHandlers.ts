/** The routes of API keys. */
import { InfraApi } from "@sluice/api/InfraApi"
import { apiKeyToWire } from "@sluice/api/access/ApiKeysApi"
import { ApiKeyNotFound } from "@sluice/domain/access/AccessErrors"
import { ApiKeys } from "@sluice/domain/access/ApiKeys"
import { CurrentPrincipal } from "@sluice/domain/access/Principal"
import { CurrentAttempt } from "@sluice/domain/idempotency/Attempt"
import { Effect, Redacted } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { answer, dataOf, nothing, one, page } from "../http/Answer.ts"

const missing = (id: string) => new ApiKeyNotFound({ id })

export const apiKeysHandlers = HttpApiBuilder.group(InfraApi, "apiKeys", (handlers) =>
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    return handlers
      .handle("list", page(keys.list, apiKeyToWire))
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
            keys.create(yield* CurrentPrincipal, request, yield* CurrentAttempt),
            ({ apiKey, key }) => ({
              data: { ...apiKeyToWire(apiKey), key: Redacted.value(key) }
            })
          )
        })
      )
      .handle(
        "update",
        one(
          missing,
          (principal, id, { payload: { name, rate_limit_rpm, status } }) =>
            keys.update(principal, id, { name, status, rateLimitRpm: rate_limit_rpm }),
          dataOf(apiKeyToWire)
        )
      )
      .handle("remove", one(missing, keys.remove, nothing))
  })
)
