/** Assembles all routes of the server. The caller provides the services and a socket. */
import { InferenceApi } from "@sluice/api/inference/InferenceApi"
import { InfraApi } from "@sluice/api/InfraApi"
import { Layer, type Redacted } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpRouter from "effect/http/HttpRouter"
import { apiKeysHandlers } from "../access/ApiKeysHandlers.ts"
import { billingHandlers } from "../billing/BillingHandlers.ts"
import { environmentsHandlers } from "../environments/EnvironmentsHandlers.ts"
import { InferenceHandlers } from "../inference/InferenceHandlers.ts"
import { instancesHandlers } from "../instances/InstancesHandlers.ts"
import { jobsHandlers } from "../jobs/JobsHandlers.ts"
import { LiveCounts } from "../metrics/LiveCountsStore.ts"
import { metrics, metricsRoute } from "../metrics/MetricsRoute.ts"
import { imageLink, imageLinkRoute } from "../inference/images/ImageLinkRoute.ts"
import { site, siteRoutes } from "../site/SiteRoutes.ts"
import { storageHandlers } from "../storage/StorageHandlers.ts"
import { templatesHandlers } from "../templates/TemplatesHandlers.ts"
import { authorized, withinBudget } from "../access/Authorization.ts"
import { KeyWatch } from "../access/KeyWatch.ts"
import { BudgetGate } from "../billing/BudgetGate.ts"
import { edge } from "./Edge.ts"
import type { HostRule } from "./Hosts.ts"
import { idempotentLayer } from "../idempotency/Idempotent.ts"
import { type Route, routesOf } from "./RouteTable.ts"
import { wellFormed } from "./WellFormed.ts"

const infra = HttpApiBuilder.layer(InfraApi).pipe(
  Layer.provide([
    jobsHandlers,
    instancesHandlers,
    templatesHandlers,
    storageHandlers,
    environmentsHandlers,
    apiKeysHandlers,
    billingHandlers
  ]),
  Layer.provide([authorized, withinBudget, idempotentLayer, wellFormed]),
  Layer.provide([BudgetGate.layer, KeyWatch.layer])
)

const inference = HttpApiBuilder.layer(InferenceApi).pipe(
  Layer.provide(InferenceHandlers),
  Layer.provide(KeyWatch.layer)
)

/** Every route of the server. */
export const allRoutes: ReadonlyArray<Route> = [
  ...routesOf(InfraApi),
  ...routesOf(InferenceApi),
  ...siteRoutes,
  imageLinkRoute,
  metricsRoute
]

/**
 * Serves all routes on the provided `HttpServer`. `metricsToken`: the token for `/metrics`; without it, `/metrics`
 * answers only requests from this machine.
 */
export const serveRoutes = (isOurHost: HostRule, metricsToken?: Redacted.Redacted) => {
  const metricsRoutes = metrics(metricsToken).pipe(Layer.provide(LiveCounts.layer))
  const everywhere = edge({ isOurHost, routes: allRoutes })
  return HttpRouter.serve(Layer.mergeAll(infra, inference, site, imageLink, metricsRoutes, everywhere), {
    // A proxy that filters by path must see the same path as this router.
    routerConfig: { caseSensitive: true, ignoreDuplicateSlashes: false },
    disableLogger: true,
    disableListenLog: true
  })
}
