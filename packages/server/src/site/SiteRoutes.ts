/**
 * The routes without authentication: `/` (a description), the OpenAPI document, `/healthz` (the process runs) and
 * `/readyz` (the database answers; it is migrated before the port opens). `/readyz` also reports whether replicas share
 * their rate limits, and the models without an available upstream. Neither of the two makes the server unready.
 */
import { openApiDocument } from "@sluice/api/OpenApiDocument"
import { ModelProvider, type UpstreamHealth } from "@sluice/domain/models/ModelProvider"
import { RateLimits, type Sharing } from "@sluice/domain/limits/RateLimits"
import { Duration, Effect, Layer } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { singleFlight } from "../database/SingleFlight.ts"
import type { Route } from "../http/RouteTable.ts"
import { inWallTime } from "../clock/WallTime.ts"
import { StoreProbe } from "./StoreProbeStore.ts"

/** For the table of routes. */
export const siteRoutes: ReadonlyArray<Route> = ["/", "/openapi.json", "/healthz", "/readyz"].map((path) => ({
  method: "GET",
  path
}))

const READY_WITHIN = Duration.seconds(2)

const about = `Sluice: GPU machines and models behind one API key.

  Inference       /v1            chat, responses, embeddings, images, speech, videos, for OpenAI-compatible clients
  Infrastructure  /api/v1        jobs, instances, storage, environments, API keys, billing
  Document        /openapi.json  OpenAPI 3.1 of both

Every request carries \`Authorization: Bearer svc_live_...\`.
`

const ready = (sharing: Sharing, health: ReadonlyArray<UpstreamHealth> | undefined): string =>
  JSON.stringify({
    status: "ready",
    rate_limits: sharing === "own" ? undefined : sharing === "shared" ? "shared" : "per_replica",
    models_without_upstream: health === undefined ? undefined : withoutUpstream(health)
  })

/** A busy upstream counts as available. */
const withoutUpstream = (health: ReadonlyArray<UpstreamHealth>): ReadonlyArray<string> => {
  const available = new Set(
    health.flatMap(({ model, state }) => (state === "closed" || state === "resting" ? [model] : []))
  )
  return [...new Set(health.map(({ model }) => model))].filter((model) => !available.has(model))
}

const json = (status: number, body: string) =>
  HttpServerResponse.text(body, { status, contentType: "application/json" })

export const site = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const probe = yield* singleFlight((yield* StoreProbe).answers, READY_WITHIN)
    const limits = yield* RateLimits
    const health = (yield* ModelProvider).health ?? Effect.undefined
    let document: string | undefined
    yield* router.add("GET", "/", HttpServerResponse.text(about, { contentType: "text/plain; charset=utf-8" }))
    yield* router.add("GET", "/healthz", json(200, '{"status":"ok"}'))
    yield* router.add(
      "GET",
      "/readyz",
      probe.pipe(
        Effect.andThen(Effect.all([limits.sharing, health])),
        Effect.match({
          onFailure: () => json(503, '{"status":"unavailable"}'),
          onSuccess: ([sharing, upstreams]) => json(200, ready(sharing, upstreams))
        }),
        inWallTime
      )
    )
    // Built at the first request, so that the start does not wait for it.
    yield* router.add(
      "GET",
      "/openapi.json",
      Effect.sync(() => json(200, (document ??= JSON.stringify(openApiDocument()))))
    )
  })
)
