/**
 * What holds for every answer of the server, whatever the route: a request id, a `Host` that is ours, a bounded body, an
 * error body in the form of the surface, and no defect's text. Unknown routes and wrong methods end here.
 */
import { isTransient } from "@sluice/domain/database/StoreFailure"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Cause, Effect } from "effect"
import type { Types } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { BodyMemoryBudget, type ByteBudget } from "./BodyMemoryBudget.ts"
import { BodyCrowdedOut, BodyEncoded, BodyNotText, BodyTooLarge, boundedBody } from "./BoundedBody.ts"
import {
  evicted,
  type EdgeError,
  edgeError,
  encodedBody,
  endWith,
  foreignHost,
  internalError,
  isInference,
  methodNotAllowed,
  notFound,
  payloadTooLarge,
  stoppedEarly,
  storeUnavailable,
  unmetExpectation,
  unsupportedMediaType
} from "./EdgeErrors.ts"
import { invalid } from "@sluice/api/infra/WireError"
import { isUnmet } from "./Expect.ts"
import type { HostRule } from "./Hosts.ts"
import { BodyTooFull, bodyTooFull, bounded } from "./InfraBody.ts"
import { commonHeaders, RequestId, requestIdOf } from "./RequestId.ts"
import type { Route } from "./RouteTable.ts"
import { methodsOf } from "./RouteTable.ts"

const MAX_INFRA_BODY_BYTES = 1_048_576
/** Images come inline. */
export const MAX_INFERENCE_BODY_BYTES = 20_971_520

export interface EdgeOptions {
  readonly isOurHost: HostRule
  /** All routes there are, to tell a wrong method from an unknown path. */
  readonly routes: ReadonlyArray<Route>
}

type Handled = Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>

/** The one global middleware. */
export const edge = (options: EdgeOptions) =>
  HttpRouter.middleware(
    Effect.map(
      BodyMemoryBudget,
      (room) => (httpEffect: Handled) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => handled(options, room, httpEffect, request))
    ),
    { global: true }
  )

const handled = (
  options: EdgeOptions,
  room: ByteBudget,
  httpEffect: Handled,
  request: HttpServerRequest.HttpServerRequest
): Handled => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const requestId = requestIdOf(source)
  const path = request.originalUrl.split("?", 1)[0]!
  const refuse = (error: EdgeError) => Effect.succeed(edgeError(path, error, requestId))
  const response = NodeHttpServerRequest.toServerResponse(request)
  for (const [name, value] of Object.entries(commonHeaders(requestId))) response.setHeader(name, value)
  if (!options.isOurHost(source.headers.host)) return refuse(foreignHost)
  if (isUnmet(source)) return Effect.map(refuse(unmetExpectation), HttpServerResponse.setStatus(417))

  const limit = isInference(path) ? MAX_INFERENCE_BODY_BYTES : MAX_INFRA_BODY_BYTES
  // A form bounds its file itself: it knows which endpoint it is for, and does not come here for its text.
  const body = boundedBody(source, response, limit, room)
  Object.defineProperty(request, "text", { value: isInference(path) ? body.text : bounded(body.text) })

  return Effect.matchCauseEffect(Effect.provideService(httpEffect, RequestId, requestId), {
    onSuccess: (response) =>
      body.overflowed() && response.status !== 413
        ? refuse(payloadTooLarge(limit))
        : response.status === 415
          ? refuse(unsupportedMediaType)
          : Effect.succeed(response),
    onFailure: (cause): Handled =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.flatMap(explain(cause, request.method, path, options.routes, limit, requestId), refuse)
  }).pipe(
    // The drain is over: who is still there and has heard nothing is told so.
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
    // A path that no route can read, as a broken percent code, has no method that would help.
    const known = methods.length > 0 && !methods.includes(method)
    return Effect.succeed(known ? methodNotAllowed(methods) : notFound)
  }
  if (failure instanceof BodyTooLarge) return Effect.succeed(payloadTooLarge(limit))
  if (failure instanceof BodyTooFull) return Effect.succeed(bodyTooFull(failure))
  if (failure instanceof BodyCrowdedOut) return Effect.succeed(evicted)
  if (failure instanceof BodyEncoded) return Effect.succeed(encodedBody)
  if (failure instanceof BodyNotText) return Effect.succeed(invalid([{ path: "", message: "must be JSON in UTF-8" }]))
  return Effect.logError("request failed", cause).pipe(
    Effect.annotateLogs({ requestId, method, path }),
    Effect.as(isTransient(failure) ? storeUnavailable : internalError)
  )
}
