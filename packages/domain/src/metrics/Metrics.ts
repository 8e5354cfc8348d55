/**
 * What the domain counts of its own work, for whoever watches this replica (docs/metrics.md). A port of numbers: the domain
 * adds to them, the server renders them. Nobody watches by default: then nothing is kept, and counting costs an addition.
 *
 * Each replica counts what it did itself, from its start on; sums over replicas are the watcher's.
 */
import { Context, Layer } from "effect"
import { families } from "./Family.ts"

const makeMetrics = (listed: boolean) => {
  const { counter, gauge, seconds } = families(listed)
  return {
    modelRequests: counter(
      "sluice_model_requests_total",
      ["model", "end"],
      "Requests to a model that ended: ok, failed, abandoned (the caller went away), refused (no money or budget)."
    ),
    modelOpen: gauge(
      "sluice_model_requests_open",
      ["model", "streamed"],
      "Requests to a model that are being answered just now."
    ),
    modelFirstWord: seconds(
      "sluice_model_first_token_seconds",
      ["model"],
      "From a checked chat to the first thing that its model said, in seconds of the service's clock."
    ),
    modelDuration: seconds(
      "sluice_model_request_seconds",
      ["model"],
      "From a checked request to its charged answer, of those that ended ok, in seconds of the service's clock."
    ),
    modelTokens: counter("sluice_model_tokens_total", ["model", "direction"], "Tokens charged, in and out."),
    modelCost: counter("sluice_model_cost_usd_total", ["model"], "What answers came to, in USD."),
    rateRefusals: counter(
      "sluice_rate_limit_refusals_total",
      [],
      "Requests of known keys that were refused with 429: their minute was full."
    ),
    upstreamRequests: counter(
      "sluice_upstream_requests_total",
      ["model", "upstream"],
      "Requests sent to a server behind a model, by its place in the catalog, from 0."
    ),
    upstreamFailures: counter(
      "sluice_upstream_failures_total",
      ["model", "upstream", "fault"],
      "Requests to a server behind a model that failed: unreachable, lost, timeout, too_long, cut, malformed, or the class of the status."
    ),
    jobsCreated: counter("sluice_jobs_created_total", [], "Jobs that were accepted by this replica."),
    jobsEnded: counter("sluice_jobs_ended_total", ["status"], "Jobs whose end was written by this replica, by how."),
    commitRows: counter(
      "sluice_group_commit_rows_total",
      ["queue"],
      "Rows handed to the database in shared statements."
    ),
    commitFlushes: counter(
      "sluice_group_commit_flushes_total",
      ["queue"],
      "Shared statements: rows by these is how full."
    ),
    commitWaiting: gauge(
      "sluice_group_commit_waiting_rows",
      ["queue"],
      "Rows that wait for the statement before theirs."
    )
  }
}

export const Metrics = Context.Reference<ReturnType<typeof makeMetrics>>("@sluice/domain/metrics/Metrics", {
  defaultValue: () => makeMetrics(false)
})

/** Numbers that are kept, of one running server. */
export const layer = Layer.sync(Metrics, () => makeMetrics(true))
