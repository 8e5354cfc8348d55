/**
 * Counts and times every request by the pattern of its route, never by its path, before it is routed. A request costs
 * one listener and two reads of the machine's clock; its series are looked up once and cached.
 */
import type { Histogram, Tally } from "@sluice/domain/metrics/Family"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { performance } from "node:perf_hooks"
import type { ServerMetrics } from "./ServerMetrics.ts"
import { isInference } from "../http/EdgeErrors.ts"
import { makeRouteIndex, type Route } from "../http/RouteTable.ts"

type Metrics = (typeof ServerMetrics)["Service"]

/** The labels of requests that match no route. */
const NO_ROUTE = { method: "other", path: "none" }
const STATUSES = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"] as const

export class HttpMetrics {
  private readonly metrics: Metrics
  private readonly routeOf: ReturnType<typeof makeRouteIndex>
  private readonly byRoute = new Map<Route | string, RouteMetrics>()
  private readonly open: Tally
  private readonly connections: Tally

  constructor(metrics: Metrics, routes: ReadonlyArray<Route>) {
    this.metrics = metrics
    this.routeOf = makeRouteIndex(routes)
    this.open = metrics.open.of()
    this.connections = metrics.connections.of()
  }

  trackConnection(socket: Socket): void {
    this.connections.add()
    socket.on("close", () => this.connections.add(-1))
  }

  /** Counts the request until its response was sent or its caller disconnected; then `onEnd` is called. */
  trackRequest(source: IncomingMessage, response: ServerResponse, onEnd: () => void): void {
    const startedMs = performance.now()
    this.open.add()
    response.on("close", () => {
      this.open.add(-1)
      const status = response.headersSent ? Math.min(5, Math.trunc(response.statusCode / 100)) : 0
      this.metricsOf(source.method ?? "", source.url ?? "").record(status, (performance.now() - startedMs) / 1_000)
      onEnd()
    })
  }

  private metricsOf(method: string, url: string): RouteMetrics {
    const route = this.routeOf(method, url)
    const key = route ?? surfaceOf(url)
    const known = this.byRoute.get(key)
    if (known !== undefined) return known
    const made = new RouteMetrics(this.metrics, surfaceOf(url), route ?? NO_ROUTE)
    this.byRoute.set(key, made)
    return made
  }
}

/** The series of one route. */
class RouteMetrics {
  private readonly metrics: Metrics
  private readonly labels: readonly [surface: string, method: string, route: string]
  private readonly durations: Histogram
  /** By status class. */
  private readonly answers: Array<Tally | undefined> = []

  constructor(metrics: Metrics, surface: string, { method, path }: Route) {
    this.metrics = metrics
    this.labels = [surface, method, path]
    this.durations = metrics.durations.of(...this.labels)
    // Created with the first request: `rate` misses the first error of a series that begins with it.
    for (const status of [2, 4, 5]) this.answers[status] = metrics.requests.of(...this.labels, STATUSES[status]!)
  }

  record(status: number, seconds: number): void {
    const answers = (this.answers[status] ??= this.metrics.requests.of(...this.labels, STATUSES[status]!))
    answers.add()
    this.durations.record(seconds)
  }
}

const surfaceOf = (url: string) =>
  isInference(url) ? "inference" : url.startsWith("/api/v1/") ? "infrastructure" : "site"
