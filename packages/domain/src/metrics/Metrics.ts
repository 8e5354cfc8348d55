/**
 * The metrics that the domain records about its own work (docs/metrics.md). The domain adds to numbers, and the server
 * renders them. By default no series is kept, and counting costs one addition.
 *
 * Each replica counts its own work since its start. Sums over replicas are made by the monitoring system.
 */
import { Context, Layer } from "effect"
import { families } from "./Family.ts"

const makeMetrics = (isListed: boolean) => {
  const { counter, gauge, seconds } = families(isListed)
  return {
    modelRequests: counter(
      "sluice_model_requests_total",
      ["model", "end"],
      "Requests to a model that ended: ok, failed, abandoned (the caller disconnected), refused (no money or budget)."
    ),
    modelOpen: gauge("sluice_model_requests_open", ["model", "streamed"], "Requests to a model that are in progress."),
    modelFirstWord: seconds(
      "sluice_model_first_token_seconds",
      ["model"],
      "Time from a checked chat to the first event of its answer, in seconds of the service's clock."
    ),
    modelDuration: seconds(
      "sluice_model_request_seconds",
      ["model"],
      "Time from a checked request to its charged answer, for requests that ended ok, in seconds of the service's clock."
    ),
    modelTokens: counter("sluice_model_tokens_total", ["model", "direction"], "Tokens charged, in and out."),
    modelCost: counter("sluice_model_cost_usd_total", ["model"], "Cost of all answers, in USD."),
    rateRefusals: counter(
      "sluice_rate_limit_refusals_total",
      [],
      "Requests of known keys that were refused with 429 by the rate limit."
    ),
    upstreamRequests: counter(
      "sluice_upstream_requests_total",
      ["model", "upstream"],
      "Requests sent to an upstream of a model, by the upstream's index in the catalog, from 0."
    ),
    upstreamFailures: counter(
      "sluice_upstream_failures_total",
      ["model", "upstream", "fault"],
      "Failed requests to an upstream of a model: unreachable, lost, timeout, too_long, cut, malformed, or the class of the status."
    ),
    jobsCreated: counter("sluice_jobs_created_total", [], "Jobs that this replica accepted."),
    jobsEnded: counter("sluice_jobs_ended_total", ["status"], "Jobs that this replica ended, by final status."),
    commitRows: counter(
      "sluice_group_commit_rows_total",
      ["queue"],
      "Rows written to the database in shared statements."
    ),
    commitFlushes: counter(
      "sluice_group_commit_flushes_total",
      ["queue"],
      "Shared statements. Rows divided by statements is the average batch size."
    ),
    commitWaiting: gauge("sluice_group_commit_waiting_rows", ["queue"], "Rows queued for the next shared statement.")
  }
}

export const Metrics = Context.Reference<ReturnType<typeof makeMetrics>>("@sluice/domain/metrics/Metrics", {
  defaultValue: () => makeMetrics(false)
})

/** Makes metrics that are kept, for one running server. */
export const layer = Layer.sync(Metrics, () => makeMetrics(true))
