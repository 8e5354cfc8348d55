/** The contract of API keys: list, create, change, delete. The full key is only in the response that creates it. */
import type { ApiKey } from "@sluice/domain/access/ApiKey"
import { DEFAULT_RATE_LIMIT_RPM, MAX_RATE_LIMIT_RPM } from "@sluice/domain/access/ApiKey"
import { allScopes } from "@sluice/domain/access/Principal"
import { Name } from "@sluice/domain/requests/Name"
import { optional } from "@sluice/domain/requests/OptionalField"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { about, createdSchema, data, environmentQuery, list, listQuery } from "../infra/Envelope.ts"
import { Forbidden, NotFound } from "../infra/InfraErrors.ts"
import { DateTime, idParams, iso, isoOrNull, nullable, required } from "../infra/WireFields.ts"
import { Authorized, NeedsScope, Idempotent, ReturnsSecret, WellFormed } from "./InfraAccess.ts"

const scopeRule = { message: `must be a list of scopes out of ${allScopes.join(", ")}` }
const Scopes = Schema.Array(Schema.Literals(allScopes).annotate({ message: `must be one of ${allScopes.join(", ")}` }))

const keyFields = {
  id: Schema.String,
  name: Schema.String,
  prefix: Schema.String,
  status: Schema.Literals(["active", "inactive"]),
  scopes: Scopes,
  environment_id: nullable(Schema.String),
  rate_limit_rpm: Schema.Int,
  last_used_at: nullable(DateTime),
  created_at: DateTime
}
const ApiKeyWire = Schema.Struct(keyFields).annotate({ identifier: "ApiKey" })
const CreatedApiKeyWire = Schema.Struct({
  ...keyFields,
  key: Schema.String.annotate({ description: "The full key; it is returned only here." })
}).annotate({ identifier: "CreatedApiKey" })

export const apiKeyToWire = (key: ApiKey): typeof ApiKeyWire.Type => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  status: key.status,
  scopes: key.scopes ?? allScopes,
  environment_id: key.environmentId,
  rate_limit_rpm: key.rateLimitRpm,
  last_used_at: isoOrNull(key.lastUsedAt),
  created_at: iso(key.createdAt)
})

const rateRule = { message: `must be an integer from 1 to ${MAX_RATE_LIMIT_RPM}` }
const RateLimit = Schema.Int.annotate({
  ...rateRule,
  description: `Requests a minute on the inference surface; default ${DEFAULT_RATE_LIMIT_RPM}.`
}).check(Schema.isBetween({ minimum: 1, maximum: MAX_RATE_LIMIT_RPM }, rateRule))
const environmentRule = { message: "must be an environment's id" }

const NewApiKey = Schema.Struct({
  name: Name.annotateKey(required),
  scopes: optional(
    Scopes.annotate({ ...scopeRule, description: "Default: all scopes of the creating key." }).check(
      Schema.isMinLength(1, scopeRule),
      Schema.isMaxLength(allScopes.length, scopeRule)
    )
  ),
  environment_id: optional(
    Schema.String.annotate({ ...environmentRule, description: "The environment of requests that name none." }).check(
      Schema.isUUID(undefined, environmentRule)
    )
  ),
  rate_limit_rpm: optional(RateLimit)
}).annotate({ identifier: "NewApiKey" })

const ApiKeyChange = Schema.Struct({
  name: Schema.optionalKey(Name),
  status: Schema.optionalKey(
    Schema.Literals(["active", "inactive"]).annotate({ message: "must be `active` or `inactive`" })
  ),
  rate_limit_rpm: Schema.optionalKey(RateLimit)
}).annotate({ identifier: "ApiKeyChange" })

const listKeys = HttpApiEndpoint.get("list", "/", { query: listQuery, success: list(ApiKeyWire) })
  .annotate(NeedsScope, "keys:read")
  .annotateMerge(about("listApiKeys", "List API keys, newest first; prefixes only"))

const create = HttpApiEndpoint.post("create", "/", {
  query: environmentQuery,
  payload: NewApiKey,
  success: createdSchema(CreatedApiKeyWire),
  error: [Forbidden, NotFound]
})
  .annotate(NeedsScope, "keys:write")
  .annotate(ReturnsSecret, true)
  .annotateMerge(about("createApiKey", "Create an API key; the key is shown only once"))

const update = HttpApiEndpoint.patch("update", "/:id", {
  params: idParams,
  query: environmentQuery,
  payload: ApiKeyChange,
  success: data(ApiKeyWire),
  error: NotFound
})
  .annotate(NeedsScope, "keys:write")
  .annotateMerge(about("updateApiKey", "Rename, activate or deactivate a key, or set its rate limit"))

const remove = HttpApiEndpoint.delete("remove", "/:id", { params: idParams, query: environmentQuery, error: NotFound })
  .annotate(NeedsScope, "keys:write")
  .annotateMerge(about("deleteApiKey", "Delete a key for good"))

export class ApiKeysApi extends HttpApiGroup.make("apiKeys")
  .add(listKeys, create, update, remove)
  .middleware(WellFormed)
  .middleware(Idempotent)
  .middleware(Authorized)
  .prefix("/api/v1/api-keys") {}
