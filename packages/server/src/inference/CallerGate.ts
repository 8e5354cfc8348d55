/**
 * What stands before every endpoint of the inference surface: the key, its rate and its scope, in this order, and one form
 * for every failure. The rate headers are on every answer to a known key, whatever becomes of it. No generators: each
 * request passes here.
 */
import { type InferenceFailure, inferenceErrorOf, inferenceErrorText } from "@sluice/api/inference/InferenceErrors"
import { Access } from "@sluice/domain/access/Access"
import { ScopeMissing } from "@sluice/domain/access/AccessErrors"
import type { Principal, Scope } from "@sluice/domain/access/Principal"
import type { Admission } from "@sluice/domain/limits/RateLimit"
import { RateLimits } from "@sluice/domain/limits/RateLimits"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Cause, Effect, Option } from "effect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { bearerOf } from "../http/Bearer.ts"
import { SqlError } from "effect/sql"
import { RequestId } from "../http/RequestId.ts"

/** A known caller and the headers that its answer carries. */
export interface Caller {
  readonly principal: Principal
  readonly requestId: string
  readonly headers: Record<string, string>
}

export type Guarded = (
  request: HttpServerRequest,
  scope: Scope,
  answer: (caller: Caller) => Effect.Effect<HttpServerResponse.HttpServerResponse, InferenceFailure>
) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/** The gate over `Access` and `RateLimits`. */
export const makeGate: Effect.Effect<Guarded, never, Access | RateLimits> = Effect.gen(function* () {
  const access = yield* Access
  const limits = yield* RateLimits

  const admit = (principal: Principal, headers: Record<string, string>) =>
    Effect.flatMap(limits.consume(principal.keyId, principal.rateLimitRpm), (admission) => {
      writeHeaders(headers, admission)
      return admission.admitted ? Effect.void : Effect.fail({ _tag: "RateExceeded" as const, ...admission })
    })

  const identify = (request: HttpServerRequest, headers: Record<string, string>) => {
    const bearer = bearerOf(NodeHttpServerRequest.toIncomingMessage(request))
    return Effect.matchEffect(access.authenticate(bearer, request.headers["x-environment"]), {
      onSuccess: (principal) => Effect.as(admit(principal, headers), principal),
      // The key is known even if the environment is not: its rate counts, and its answer says so.
      onFailure: (error): Effect.Effect<Principal, InferenceFailure> =>
        error._tag === "KeyInvalid"
          ? Effect.fail(error)
          : Effect.matchEffect(access.authenticate(bearer, undefined), {
              onSuccess: (principal) => Effect.andThen(admit(principal, headers), Effect.fail(error)),
              onFailure: () => Effect.fail(error)
            })
    })
  }

  return (request, scope, answer) =>
    Effect.flatMap(RequestId, (requestId) => {
      const headers: Record<string, string> = {}
      const answered = Effect.flatMap(identify(request, headers), (principal) =>
        principal.scopes.includes(scope)
          ? answer({ principal, requestId, headers })
          : Effect.fail(new ScopeMissing({ scope }))
      )
      return Effect.matchCauseEffect(answered, {
        onSuccess: Effect.succeed,
        onFailure: (cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.failCause(cause as Cause.Cause<never>)
            : Effect.map(failureOf(cause, requestId), (failure) => failed(failure, requestId, headers))
      })
    })
})

/** The failure to tell; what we did not foresee is logged under the request's id and told in general words. */
export const failureOf = (cause: Cause.Cause<InferenceFailure>, requestId: string): Effect.Effect<InferenceFailure> => {
  const known = Cause.findErrorOption(cause)
  if (Option.isSome(known)) return Effect.succeed(known.value)
  const defect = Cause.squash(cause)
  const unreachable = SqlError.isSqlError(defect) && defect.reason._tag === "ConnectionError"
  return Effect.as(Effect.logError("Inference request failed", cause).pipe(Effect.annotateLogs({ requestId })), {
    _tag: unreachable ? "StoreUnavailable" : "Unexpected"
  } as const)
}

/** A JSON answer. */
export const json = (status: number, body: string, headers: Record<string, string>) =>
  HttpServerResponse.text(body, { status, headers, contentType: "application/json" })

const failed = (failure: InferenceFailure, requestId: string, headers: Record<string, string>) => {
  const error = inferenceErrorOf(failure)
  return json(error.status, inferenceErrorText(error, requestId), { ...headers, ...error.headers })
}

const writeHeaders = (headers: Record<string, string>, admission: Admission) => {
  headers["x-ratelimit-limit"] = String(admission.limit)
  headers["x-ratelimit-remaining"] = String(admission.remaining)
  headers["x-ratelimit-reset"] = String(admission.resetSeconds)
}
