/**
 * What the server says about itself without a key: what it is (`/`), its document, whether it lives (`/healthz`) and whether
 * it can work (`/readyz`: the store answers; it is migrated before the port opens). Where rate limits are to be one for all
 * replicas, `/readyz` says whether they are, and where servers stand behind the models it names those that have none just
 * now: without these it works all the same.
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

/** These, for the table of methods. */
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

/** One that is busy is there all the same. */
const withoutUpstream = (health: ReadonlyArray<UpstreamHealth>): ReadonlyArray<string> => {
  const well = new Set(health.flatMap(({ model, state }) => (state === "closed" || state === "resting" ? [model] : [])))
  return [...new Set(health.map(({ model }) => model))].filter((model) => !well.has(model))
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
    // Made at the first request: nobody waits for it at the start.
    yield* router.add(
      "GET",
      "/openapi.json",
      Effect.sync(() => json(200, (document ??= JSON.stringify(openApiDocument()))))
    )
  })
)
