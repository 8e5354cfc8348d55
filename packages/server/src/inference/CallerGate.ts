/**
 * Checks each request of the inference surface before its endpoint: the key, its rate limit and its scope, in this
 * order. It writes every failure in one form. The rate headers are on every response to a known key, also on failures.
 * The code avoids generators, because every request passes here.
 */
import { RateExceeded, StoreUnavailable, Unexpected } from "@sluice/api/inference/EdgeFailures"
import { type InferenceFailure, inferenceErrorOf } from "@sluice/api/inference/InferenceErrorTable"
import { inferenceErrorText } from "@sluice/api/inference/InferenceWireError"
import { Access } from "@sluice/domain/access/Access"
import { ScopeMissing } from "@sluice/domain/access/AccessErrors"
import { isTransient } from "@sluice/domain/database/StoreFailure"
import type { Principal, Scope } from "@sluice/domain/access/Principal"
import type { Verdict } from "@sluice/domain/limits/RateLimit"
import { flatMapSync, exitIfSettled } from "@sluice/domain/runtime/SyncFastPath"
import { RateLimits } from "@sluice/domain/limits/RateLimits"
import { Metrics } from "@sluice/domain/metrics/Metrics"
import { Cause, Context, Effect, Exit, Layer, Option } from "effect"
import type { IncomingMessage } from "node:http"
import { WorldSpeed } from "../clock/WorldClock.ts"
import { bearerOf } from "../http/Bearer.ts"
import { requestIdOf } from "../http/RequestId.ts"

/** An authenticated caller, and the headers that its response carries. */
export interface Caller {
  readonly principal: Principal
  readonly requestId: string
  readonly headers: Record<string, string>
}

/** A response to be written; undefined when the endpoint has already written it. */
export type Reply =
  | {
      readonly status: number
      readonly contentType: string
      readonly body: string | Uint8Array
      readonly headers: Readonly<Record<string, string>>
    }
  | undefined

/** `headers`: headers of every response, failures included, unless the response object has them already. */
type Gate = (
  source: IncomingMessage,
  requirements: { readonly headers?: Record<string, string> | undefined; readonly scope: Scope },
  answer: (caller: Caller) => Effect.Effect<Reply, InferenceFailure>
) => Effect.Effect<Reply>

const makeGate = Effect.gen(function* () {
  const access = yield* Access
  const limits = yield* RateLimits
  const speed = yield* WorldSpeed
  const refusals = (yield* Metrics).rateRefusals.of()

  const admit = (principal: Principal, headers: Record<string, string>) =>
    flatMapSync(
      limits.consume(principal.keyId, principal.rateLimitRpm),
      (verdict): Effect.Effect<Principal, InferenceFailure> => {
        writeHeaders(headers, verdict)
        if (verdict.admitted) return Effect.succeed(principal)
        refusals.add()
        // Windows end on the service's clock, but callers wait on the wall clock.
        const retryAfterSeconds = Math.max(1, Math.ceil(verdict.retryAfterSeconds / speed))
        return Effect.fail(new RateExceeded({ limit: verdict.limit, retryAfterSeconds }))
      }
    )

  const identify = (source: IncomingMessage, headers: Record<string, string>) => {
    const bearer = bearerOf(source)
    const known = access.authenticate(bearer, environmentOf(source))
    const found = exitIfSettled(known)
    if (found !== undefined && Exit.isSuccess(found)) return admit(found.value, headers)
    return Effect.matchEffect(known, {
      onSuccess: (principal) => admit(principal, headers),
      // The key is valid even where the environment is unknown: the request counts against the key's rate, and the
      // response shows it.
      onFailure: (error): Effect.Effect<Principal, InferenceFailure> =>
        error._tag === "KeyInvalid"
          ? Effect.fail(error)
          : Effect.matchEffect(access.authenticate(bearer, undefined), {
              onSuccess: (principal) => Effect.andThen(admit(principal, headers), Effect.fail(error)),
              onFailure: () => Effect.fail(error)
            })
    })
  }

  const gate: Gate = (source, { headers = {}, scope }, answer) => {
    const requestId = requestIdOf(source)
    return Effect.catchCause(
      Effect.flatMap(identify(source, headers), (principal) =>
        principal.scopes.includes(scope)
          ? answer({ principal, requestId, headers })
          : Effect.fail(new ScopeMissing({ scope }))
      ),
      (cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause as Cause.Cause<never>)
          : Effect.map(failureOf(cause, requestId), (failure) => failureReply(failure, requestId, headers))
    )
  }
  return gate
})

/** The gate over `Access` and `RateLimits`, one for all endpoints. */
export class CallerGate extends Context.Service<CallerGate, Gate>()("@sluice/server/inference/CallerGate") {
  static readonly layer: Layer.Layer<CallerGate, never, Access | RateLimits> = Layer.effect(CallerGate, makeGate)
}

const environmentOf = (source: IncomingMessage): string | undefined => {
  const given = source.headers["x-environment"]
  return typeof given === "string" ? given : undefined
}

/**
 * Returns the failure for the caller. A defect is logged under the request's id, and the caller gets a general failure.
 */
export const failureOf = (cause: Cause.Cause<InferenceFailure>, requestId: string): Effect.Effect<InferenceFailure> => {
  const known = Cause.findErrorOption(cause)
  if (Option.isSome(known)) return Effect.succeed(known.value)
  const defect = Cause.squash(cause)
  return Effect.as(
    Effect.logError("Inference request failed", cause).pipe(Effect.annotateLogs({ requestId })),
    isTransient(defect) ? new StoreUnavailable() : new Unexpected()
  )
}

/** A JSON response. */
export const json = (status: number, body: string, headers: Readonly<Record<string, string>>): Reply => ({
  status,
  contentType: "application/json",
  body,
  headers
})

/** The response of a failure. */
const failureReply = (failure: InferenceFailure, requestId: string, headers: Record<string, string>) => {
  const error = inferenceErrorOf(failure)
  return json(error.status, inferenceErrorText(error, requestId), { ...headers, ...error.headers })
}

const writeHeaders = (headers: Record<string, string>, verdict: Verdict) => {
  headers["x-ratelimit-limit"] = String(verdict.limit)
  headers["x-ratelimit-remaining"] = String(verdict.remaining)
  headers["x-ratelimit-reset"] = String(verdict.resetSeconds)
}
