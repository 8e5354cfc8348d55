/**
 * `GET /metrics` for Prometheus. Without a configured token, programs on this machine may read it. With a token, only
 * requests that carry it may, because requests through a proxy on this machine come from this machine too. All other
 * requests get the response of an unknown path. API keys do not authorize it.
 */
import { Metrics } from "@sluice/domain/metrics/Metrics"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Layer, Redacted } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { bearerOf } from "../http/Bearer.ts"
import { infraError, notFound } from "../http/EdgeErrors.ts"
import { isLoopback } from "../http/Hosts.ts"
import { RequestId } from "../http/RequestId.ts"
import type { Route } from "../http/RouteTable.ts"
import { CONTENT_TYPE, metricsText } from "./MetricsText.ts"
import { makeProcessMetrics } from "./ProcessMetrics.ts"
import { ServerMetrics } from "./ServerMetrics.ts"
import { makeWorldMetrics } from "./WorldMetrics.ts"

/** For the table of routes. */
export const metricsRoute: Route = { method: "GET", path: "/metrics" }

export const metrics = (token: Redacted.Redacted | undefined) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const router = yield* HttpRouter.HttpRouter
      const families = [...Object.values(yield* ServerMetrics), ...Object.values(yield* Metrics)]
      const ofProcess = yield* makeProcessMetrics
      const ofWorld = yield* makeWorldMetrics
      const refresh = Effect.andThen(ofProcess.refresh, ofWorld.refresh)
      const text = Effect.map(refresh, () =>
        HttpServerResponse.text(metricsText(families), { contentType: CONTENT_TYPE })
      )
      yield* router.add(
        "GET",
        "/metrics",
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          mayRead(NodeHttpServerRequest.toIncomingMessage(request), token)
            ? text
            : Effect.map(RequestId, (requestId) => infraError(notFound, requestId))
        )
      )
    })
  )

/**
 * Returns whether the request may read metrics. `token`: the configured one. The peer's address is that of the socket;
 * a header can only take the permission away.
 */
export const mayRead = (source: IncomingMessage, token: Redacted.Redacted | undefined): boolean => {
  if (token !== undefined) return isSame(bearerOf(source) ?? "", Redacted.value(token))
  const peer = source.socket.remoteAddress?.replace(/^::ffff:/i, "")
  return peer !== undefined && isLoopback(peer) && !FORWARDED_HEADERS.some((name) => name in source.headers)
}

/** Headers that mark a request as forwarded by a proxy. */
const FORWARDED_HEADERS = ["forwarded", "x-forwarded-for", "x-real-ip", "via"]

/** Compares in a time that does not depend on the position of the first difference. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))
const digest = (text: string) => createHash("sha256").update(text).digest()
