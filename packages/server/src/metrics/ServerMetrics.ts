/**
 * What the server counts of itself beside the domain (docs/metrics.md): its sockets, its process, and what the world looked
 * like when it was asked. As with the domain's, nothing is kept where nobody watches.
 */
import * as DomainMetrics from "@sluice/domain/metrics/Metrics"
import { families } from "@sluice/domain/metrics/Family"
import { Context, Layer } from "effect"

const makeMetrics = (listed: boolean) => {
  const { counter, gauge, seconds } = families(listed)
  return {
    build: gauge("sluice_build_info", ["version", "node"], "Always 1; its labels say what runs."),
    startTime: gauge("sluice_process_start_time_seconds", [], "When the process began, in Unix seconds."),
    cpu: counter("sluice_process_cpu_seconds_total", ["mode"], "Processor time of all threads, in seconds."),
    memory: gauge(
      "sluice_process_memory_bytes",
      ["kind"],
      "Memory: resident in all, heap_used and heap_total of the main thread's objects, external of its buffers."
    ),
    openFiles: gauge("sluice_process_open_files", [], "Open file descriptors, sockets too; absent where not known."),
    loopDelay: gauge(
      "sluice_event_loop_delay_seconds",
      ["percentile"],
      "How late the event loop was, over the last 10 s or the time since the scrape before; 100 is the worst."
    ),
    loopBusy: counter("sluice_event_loop_busy_seconds_total", [], "Time in which the event loop did not wait."),
    connections: gauge("sluice_http_connections", [], "Open connections."),
    open: gauge("sluice_http_requests_open", [], "Requests that are being answered just now."),
    requests: counter(
      "sluice_http_requests_total",
      ["surface", "method", "route", "status"],
      "Answers by class of status; none where the caller went away before one began."
    ),
    durations: seconds(
      "sluice_http_request_seconds",
      ["surface", "method", "route"],
      "From the head of a request to the end of its answer, streams whole, in seconds of the wall clock."
    ),
    sharing: gauge(
      "sluice_rate_limit_sharing",
      ["state"],
      "1 for how rate limits are counted: own (no Redis set up), shared (in Redis), lost (Redis is away)."
    ),
    upstreams: gauge(
      "sluice_upstream_state",
      ["model", "upstream", "state"],
      "1 for the state of each server behind a model: closed (asked), resting, open (failed), half_open."
    ),
    jobs: gauge(
      "sluice_jobs",
      ["status"],
      "Jobs of all replicas that have not ended; absent while the database is slow."
    ),
    machines: gauge("sluice_machines", ["status"], "Machines of all replicas that are not gone; absent as jobs are."),
    videos: gauge("sluice_videos", ["status"], "Videos of all replicas that are not made yet; absent as jobs are.")
  }
}

export const ServerMetrics = Context.Reference<ReturnType<typeof makeMetrics>>("@sluice/server/metrics/ServerMetrics", {
  defaultValue: () => makeMetrics(false)
})

/** Numbers that are kept, of the domain and of the server, of one running server. */
export const layer = Layer.merge(
  DomainMetrics.layer,
  Layer.sync(ServerMetrics, () => makeMetrics(true))
)
