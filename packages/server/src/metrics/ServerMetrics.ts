/**
 * The metrics of the server beside the domain's (docs/metrics.md): sockets, process and world. As with the domain's
 * metrics, no numbers are kept where none are read.
 */
import * as DomainMetrics from "@sluice/domain/metrics/Metrics"
import { families } from "@sluice/domain/metrics/Family"
import { Context, Layer } from "effect"

const makeMetrics = (isKept: boolean) => {
  const { counter, gauge, seconds } = families(isKept)
  return {
    build: gauge("sluice_build_info", ["version", "node"], "Always 1; its labels name the running version."),
    startTime: gauge("sluice_process_start_time_seconds", [], "When the process started, in Unix seconds."),
    cpu: counter("sluice_process_cpu_seconds_total", ["mode"], "Processor time of all threads, in seconds."),
    memory: gauge(
      "sluice_process_memory_bytes",
      ["kind"],
      "Memory: resident in all, heap_used and heap_total of the main thread's objects, external of its buffers."
    ),
    openFiles: gauge("sluice_process_open_files", [], "Open file descriptors, sockets included; absent where unknown."),
    loopDelay: gauge(
      "sluice_event_loop_delay_seconds",
      ["percentile"],
      "Delay of the event loop over the last 10 s, or since the previous scrape if that is longer ago; 100 is the maximum."
    ),
    loopBusy: counter("sluice_event_loop_busy_seconds_total", [], "Time in which the event loop did not wait."),
    connections: gauge("sluice_http_connections", [], "Open connections."),
    open: gauge("sluice_http_requests_open", [], "Requests in progress."),
    requests: counter(
      "sluice_http_requests_total",
      ["surface", "method", "route", "status"],
      "Responses by status class; none: the caller disconnected before the response began."
    ),
    durations: seconds(
      "sluice_http_request_seconds",
      ["surface", "method", "route"],
      "Time from a request's head to the end of its response, streams included, in seconds of the wall clock."
    ),
    sharing: gauge(
      "sluice_rate_limit_sharing",
      ["state"],
      "1 for how rate limits are counted: own (no Redis configured), shared (in Redis), lost (Redis is unavailable)."
    ),
    upstreams: gauge(
      "sluice_upstream_state",
      ["model", "upstream", "state"],
      "1 for the circuit breaker state of each server behind a model: closed (in use), resting, open (failed), half_open."
    ),
    jobs: gauge(
      "sluice_jobs",
      ["status"],
      "Jobs of all replicas that have not ended; absent while the database is slow."
    ),
    machines: gauge(
      "sluice_machines",
      ["status"],
      "Machines of all replicas that are not gone; absent while the database is slow."
    ),
    videos: gauge(
      "sluice_videos",
      ["status"],
      "Videos of all replicas that are not finished; absent while the database is slow."
    )
  }
}

export const ServerMetrics = Context.Reference<ReturnType<typeof makeMetrics>>("@sluice/server/metrics/ServerMetrics", {
  defaultValue: () => makeMetrics(false)
})

/** Metrics of the domain and of the server that are kept, for one running server. */
export const layer = Layer.merge(
  DomainMetrics.layer,
  Layer.sync(ServerMetrics, () => makeMetrics(true))
)
