/**
 * `GET /metrics`, for Prometheus. Who may read it: without a token of its own configured, a program on this machine; with
 * one, whoever shows it, and nobody else, because what a proxy on this machine passes on comes from this machine too. All
 * others are told what a path that is not there is told. API keys open nothing here.
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

/** For the table of methods. */
export const metricsRoute: Route = { method: "GET", path: "/metrics" }

export const metrics = (token: Redacted.Redacted | undefined) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const router = yield* HttpRouter.HttpRouter
      const families = [...Object.values(yield* ServerMetrics), ...Object.values(yield* Metrics)]
      const ofProcess = yield* makeProcessMetrics
      const ofWorld = yield* makeWorldMetrics
      const upToDate = Effect.andThen(ofProcess.refresh, ofWorld.refresh)
      const text = Effect.map(upToDate, () =>
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

/** `token`: the configured one. The peer is that of the socket; a header takes rights away and never gives any. */
export const mayRead = (source: IncomingMessage, token: Redacted.Redacted | undefined): boolean => {
  if (token !== undefined) return isSame(bearerOf(source) ?? "", Redacted.value(token))
  const peer = source.socket.remoteAddress?.replace(/^::ffff:/i, "")
  return peer !== undefined && isLoopback(peer) && !PASSED_ON.some((name) => name in source.headers)
}

/** What proxies say of a request that they pass on. */
const PASSED_ON = ["forwarded", "x-forwarded-for", "x-real-ip", "via"]

/** In a time that does not depend on how much of it is right. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))
const digest = (text: string) => createHash("sha256").update(text).digest()
