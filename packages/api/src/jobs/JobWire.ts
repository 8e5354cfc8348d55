/** Jobs and quotes on the wire (interface: Job; decisions: Jobs). */
import { toUsd } from "@sluice/domain/billing/Money"
import type { Job, Quote } from "@sluice/domain/jobs/Job"
import { jobStatuses, statusReasons } from "@sluice/domain/jobs/Job"
import type { JobRequestBody } from "@sluice/domain/jobs/JobRequest"
import { LIMIT_BYTES } from "@sluice/domain/machines/OutputLimit"
import * as Schema from "effect/Schema"
import { DateTime, iso, isoOrNull, nullable, Usd, withDefault } from "../infra/WireFields.ts"

/** The line that replaces a gap in a log's text. */
export { gapLine } from "@sluice/domain/machines/OutputLimit"

/** The body of POST /jobs and of a quote. */
export type JobRequestWire = typeof JobRequestBody.Encoded

export const JobStatusWire = Schema.Literals(jobStatuses)

export const JobWire = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  status: JobStatusWire,
  command: Schema.String,
  gpu_type: Schema.String,
  gpu_count: Schema.Int,
  template: nullable(Schema.String),
  image: nullable(Schema.String),
  env_keys: withDefault(Schema.Array(Schema.String), []),
  storage_id: nullable(Schema.String),
  max_runtime_minutes: Schema.Int,
  exit_code: nullable(Schema.Int),
  error: nullable(Schema.String),
  instance_id: nullable(Schema.String),
  environment_id: Schema.String,
  created_at: DateTime,
  started_at: nullable(DateTime),
  ended_at: nullable(DateTime),
  cost_per_hour: nullable(Usd),
  cost_usd: nullable(Usd),
  log_bytes: withDefault(Schema.Int, 0),
  logs_truncated: withDefault(Schema.Boolean, false),
  cancel_requested_at: nullable(DateTime),
  status_reason: nullable(Schema.Literals(statusReasons)),
  region: nullable(Schema.String),
  labels: nullable(Schema.Record(Schema.String, Schema.String)),
  rerun_of: nullable(Schema.String),
  description: nullable(Schema.String)
}).annotate({ identifier: "Job" })
export type JobWire = typeof JobWire.Type

export const jobToWire = (job: Job): JobWire => ({
  id: job.id,
  name: job.name,
  status: job.status,
  command: job.spec.command,
  gpu_type: job.spec.gpuType,
  gpu_count: job.spec.gpuCount,
  template: job.spec.template,
  image: job.spec.image,
  env_keys: job.spec.envKeys,
  storage_id: job.volumeId,
  max_runtime_minutes: job.spec.maxRuntimeMinutes,
  exit_code: job.exitCode,
  error: job.error,
  instance_id: job.machineExists ? job.machineId : null,
  environment_id: job.environmentId,
  created_at: iso(job.createdAt),
  started_at: isoOrNull(job.startedAt),
  ended_at: isoOrNull(job.endedAt),
  cost_per_hour: toUsd(job.price),
  cost_usd: job.cost === null ? null : toUsd(job.cost),
  log_bytes: Math.min(job.outputBytes, LIMIT_BYTES),
  logs_truncated: job.outputBytes > LIMIT_BYTES,
  cancel_requested_at: isoOrNull(job.cancelRequestedAt),
  status_reason: job.statusReason,
  region: job.spec.region,
  labels: job.labels,
  rerun_of: null,
  description: job.spec.description ?? null
})

export const QuoteWire = Schema.Struct({
  cost_per_hour: Usd,
  max_cost_usd: Usd,
  available_usd: Usd,
  budget_remaining_usd: nullable(Usd),
  affordable: Schema.Boolean,
  launch_script_bytes: Schema.Int,
  launch_script_limit_bytes: Schema.Int
}).annotate({ identifier: "JobQuote" })

export const quoteToWire = (quote: Quote): typeof QuoteWire.Type => ({
  cost_per_hour: toUsd(quote.price),
  max_cost_usd: toUsd(quote.maxCost),
  available_usd: toUsd(quote.available),
  budget_remaining_usd: quote.budgetRemaining === null ? null : toUsd(quote.budgetRemaining),
  affordable: quote.affordable,
  launch_script_bytes: quote.launchScriptBytes,
  launch_script_limit_bytes: quote.launchScriptLimitBytes
})
