/**
 * `Idempotency-Key` on every POST of the infrastructure surface (decisions: Infrastructure surface). A request is the
 * same when method, path, query, environment and body are equal; where the response contains a secret, the caller's API
 * key must be equal too. A response is stored when it is final. A 415, 422 or 429 leaves the key free. Of the 5xx
 * responses only a 500 with the id of a created job is stored; a 503 leaves the outcome unknown, because it may name a
 * job that was not created.
 */
import { createHash } from "node:crypto"
import { Idempotent, ReturnsSecret } from "@sluice/api/access/InfraAccess"
import { invalid, wireErrorOf } from "@sluice/api/infra/WireError"
import type { Principal } from "@sluice/domain/access/Principal"
import { CurrentPrincipal } from "@sluice/domain/access/Principal"
import type { FirstAnswer, Outcome } from "@sluice/domain/idempotency/Idempotency"
import { Idempotency } from "@sluice/domain/idempotency/Idempotency"
import { MAX_IDEMPOTENCY_KEY } from "@sluice/domain/idempotency/IdempotencyKey"
import { Context, Effect, Layer, Schema } from "effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { infraError } from "../http/EdgeErrors.ts"
import { RequestId } from "../http/RequestId.ts"

export const idempotentLayer = Layer.effect(
  Idempotent,
  Effect.gen(function* () {
    const idempotency = yield* Idempotency
    return (httpEffect, { endpoint }) => {
      if (endpoint.method !== "POST") return httpEffect
      const isSecret = Context.get(endpoint.annotations, ReturnsSecret)
      return Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const key = request.headers["idempotency-key"]
        if (key === undefined) return httpEffect
        const requestId = Context.get(fiber.context, RequestId)
        if (!/^[\x20-\x7e]+$/.test(key) || key.length > MAX_IDEMPOTENCY_KEY) return Effect.succeed(badKey(requestId))
        const principal = Context.getUnsafe(fiber.context, CurrentPrincipal)
        return Effect.flatMap(Effect.orDie(request.text), (body) =>
          idempotency.once(
            { workspaceId: principal.workspaceId, key, requestHash: hashOf(request, principal, body, isSecret) },
            Effect.map(httpEffect, toAnswer)
          )
        ).pipe(
          Effect.map(({ text, replayed }) => fromText(text, replayed, requestId)),
          Effect.catchTags({
            IdempotencyMismatch: (failure) => Effect.succeed(infraError(wireErrorOf(failure), requestId)),
            IdempotencyInProgress: (failure) => Effect.succeed(infraError(wireErrorOf(failure), requestId))
          })
        )
      })
    }
  })
)

const badKey = (requestId: string) =>
  infraError(
    invalid([{ path: "Idempotency-Key", message: `must be 1 to ${MAX_IDEMPOTENCY_KEY} printable ASCII characters` }]),
    requestId
  )

const hashOf = (request: HttpServerRequest.HttpServerRequest, principal: Principal, body: string, isSecret: boolean) =>
  createHash("sha256")
    .update(`${request.method} ${request.originalUrl}\n${principal.environmentId}\n${isSecret ? principal.keyId : ""}`)
    .update(body)
    .digest("hex")

/** The stored form of a response. */
const Stored = Schema.Struct({
  status: Schema.Int,
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.String
})
const StoredText = Schema.fromJsonString(Stored)

const toAnswer = (response: HttpServerResponse.HttpServerResponse): FirstAnswer => {
  const body =
    response.body._tag === "Uint8Array" ? (response.body.text ?? new TextDecoder().decode(response.body.body)) : ""
  const { "content-length": _, ...headers } = response.headers
  return {
    text: Schema.encodeSync(StoredText)({ status: response.status, headers, body }),
    outcome: outcomeOf(response.status, body)
  }
}

const outcomeOf = (status: number, body: string): Outcome => {
  if (status >= 500) return status === 500 && body.includes('"job_id"') ? "kept" : "unknown"
  return status === 415 || status === 422 || status === 429 ? "none" : "kept"
}

const fromText = (text: string, replayed: boolean, requestId: string): HttpServerResponse.HttpServerResponse => {
  const { status, headers, body: first } = Schema.decodeSync(StoredText)(text)
  const body = replayed && status >= 400 ? withRequestId(first, requestId) : first
  const all = replayed ? { ...headers, "idempotent-replayed": "true" } : headers
  if (body === "") return HttpServerResponse.empty({ status, headers: all })
  return HttpServerResponse.text(body, {
    status,
    headers: all,
    contentType: headers["content-type"] ?? "application/json"
  })
}

/** Puts the id of the current request into a replayed error body, as in the response's header. */
const withRequestId = (body: string, requestId: string): string => {
  const { error }: { readonly error: { readonly details: object } } = JSON.parse(body)
  return JSON.stringify({ error: { ...error, details: { ...error.details, request_id: requestId } } })
}
