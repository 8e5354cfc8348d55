/**
 * The middleware around every route: it sets a request id, refuses a foreign `Host`, bounds the body, and writes errors
 * in the form of the surface, without the text of defects. Unknown routes and wrong methods end here.
 */
import { BodyCrowdedOut, BodyTooLarge } from "@sluice/api/inference/EdgeFailures"
import { isTransient } from "@sluice/domain/database/StoreFailure"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Cause, Effect } from "effect"
import type { Types } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { BodyMemoryBudget, type ByteBudget } from "./BodyMemoryBudget.ts"
import { BodyEncoded, BodyNotText, boundedBody } from "./BoundedBody.ts"
import {
  bodyEvicted,
  type EdgeError,
  edgeError,
  bodyEncoded,
  endWith,
  foreignHost,
  internalError,
  isInference,
  methodNotAllowed,
  notFound,
  payloadTooLarge,
  severalHosts,
  stoppedEarly,
  storeUnavailable,
  unmetExpectation,
  unsupportedMediaType
} from "./EdgeErrors.ts"
import { invalid } from "@sluice/api/infra/WireError"
import { hasUnmetExpectation } from "./Expect.ts"
import { hasSeveralHosts, type HostRule } from "./Hosts.ts"
import { BodyRefused, bodyRefused, checkBody } from "./InfraBody.ts"
import { commonHeaders, RequestId, requestIdOf } from "./RequestId.ts"
import type { Route } from "./RouteTable.ts"
import { methodsOf } from "./RouteTable.ts"

const MAX_INFRA_BODY_BYTES = 1_048_576
/** 20 MiB, because images are sent inline as base64. */
export const MAX_INFERENCE_BODY_BYTES = 20_971_520

/** Probes of a cluster use the address of the pod, and load balancers send no `Host`: these answers hold nothing to hide. */
const PROBES = /^\/(healthz|readyz)\/?$/

export interface EdgeOptions {
  readonly isOurHost: HostRule
  /** All routes, to distinguish a wrong method from an unknown path. */
  readonly routes: ReadonlyArray<Route>
}

type Handled = Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>

/** The only global middleware. */
export const edge = (options: EdgeOptions) =>
  HttpRouter.middleware(
    Effect.map(
      BodyMemoryBudget,
      (budget) => (httpEffect: Handled) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => handle(options, budget, httpEffect, request))
    ),
    { global: true }
  )

const handle = (
  options: EdgeOptions,
  budget: ByteBudget,
  httpEffect: Handled,
  request: HttpServerRequest.HttpServerRequest
): Handled => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const requestId = requestIdOf(source)
  const path = request.originalUrl.split("?", 1)[0]!
  const refuse = (error: EdgeError) => Effect.succeed(edgeError(path, error, requestId))
  const response = NodeHttpServerRequest.toServerResponse(request)
  for (const [name, value] of Object.entries(commonHeaders(requestId))) response.setHeader(name, value)
  if (hasSeveralHosts(source)) return refuse(severalHosts)
  if (!PROBES.test(path) && !options.isOurHost(source.headers.host)) return refuse(foreignHost)
  if (hasUnmetExpectation(source)) return refuse(unmetExpectation)

  const limit = isInference(path) ? MAX_INFERENCE_BODY_BYTES : MAX_INFRA_BODY_BYTES
  // Forms do not read the text: each bounds its file itself, by the endpoint's limit.
  const body = boundedBody(source, response, limit, budget)
  Object.defineProperty(request, "text", { value: isInference(path) ? body.text : checkBody(body.text) })

  return Effect.matchCauseEffect(Effect.provideService(httpEffect, RequestId, requestId), {
    onSuccess: (response) =>
      body.hasOverflowed() && response.status !== 413
        ? refuse(payloadTooLarge(limit))
        : response.status === 415
          ? refuse(unsupportedMediaType)
          : Effect.succeed(response),
    onFailure: (cause): Handled =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.flatMap(explain(cause, request.method, path, options.routes, limit, requestId), refuse)
  }).pipe(
    // The drain is over: a caller that has no response yet gets an error.
    Effect.onInterrupt(() => Effect.sync(() => endWith(response, source, stoppedEarly(source))))
  )
}

const explain = (
  cause: Cause.Cause<unknown>,
  method: string,
  path: string,
  routes: ReadonlyArray<Route>,
  limit: number,
  requestId: string
) => {
  const failure = Cause.squash(cause)
  if (failure instanceof HttpServerError.HttpServerError && failure.reason._tag === "RouteNotFound") {
    const methods = methodsOf(routes, path)
    // A path that no route can parse, such as one with a broken percent code, has no allowed methods.
    const known = methods.length > 0 && !methods.includes(method)
    return Effect.succeed(known ? methodNotAllowed(methods) : notFound)
  }
  if (failure instanceof BodyTooLarge) return Effect.succeed(payloadTooLarge(limit))
  if (failure instanceof BodyRefused) return Effect.succeed(bodyRefused(failure))
  if (failure instanceof BodyCrowdedOut) return Effect.succeed(bodyEvicted)
  if (failure instanceof BodyEncoded) return Effect.succeed(bodyEncoded)
  if (failure instanceof BodyNotText) return Effect.succeed(invalid([{ path: "", message: "must be JSON in UTF-8" }]))
  return Effect.logError("request failed", cause).pipe(
    Effect.annotateLogs({ requestId, method, path }),
    Effect.as(isTransient(failure) ? storeUnavailable : internalError)
  )
}
