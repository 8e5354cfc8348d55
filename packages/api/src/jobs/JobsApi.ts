/** The contract of jobs: submit, list, get, cancel, quote, read the log (interface: POST /jobs; decisions: Jobs). */
import { JobRequestBody } from "@sluice/domain/jobs/JobRequest"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { Authorized, NeedsScope, Idempotent, WellFormed, WithinBudget } from "../access/InfraAccess.ts"
import { about, createdSchema, data, environmentQuery, list, listQuery } from "../infra/Envelope.ts"
import {
  Conflict,
  InternalError,
  NotFound,
  PaymentRequired,
  ServiceUnavailable,
  Unprocessable
} from "../infra/InfraErrors.ts"
import { idParams, isDay, queryInteger } from "../infra/WireFields.ts"
import { JobStatusWire, JobWire, QuoteWire } from "./JobWire.ts"

const offsetRule = { message: "must be an integer of 0 or more", description: "Offset of the first byte." }
const tailRule = {
  message: "must be an integer from 0 to 1000000",
  description: "Only the last N lines of the log so far."
}
const timeRule = { message: "must be an RFC 3339 time, like 2026-01-31T12:00:00Z" }
/** RFC 3339 with an offset or `Z`, so that the result does not depend on a local time zone. */
const Instant = Schema.String.annotate({ ...timeRule, format: "date-time" }).check(
  Schema.makeFilter((text: string) =>
    /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i.test(text) &&
    isDay(text.slice(0, 10)) &&
    !Number.isNaN(Date.parse(text))
      ? undefined
      : / \d\d:\d\d$/.test(text)
        ? `${timeRule.message}; a + in a query is a blank: write it as %2B`
        : timeRule.message
  )
)
const OneLine = Schema.String.check(
  Schema.makeFilter((text: string) =>
    /\p{Cc}/u.test(text) || text.length > 1_000 ? "must be one line of at most 1000 characters" : undefined
  )
)
const Label = OneLine.check(
  Schema.makeFilter((text: string) => (text.indexOf(":") > 0 ? undefined : "must be `key:value`"))
)

/** The filters of `GET /jobs`. `name` matches exactly; `label` is `key:value`. */
const jobListQuery = {
  ...listQuery,
  status: Schema.optionalKey(JobStatusWire),
  name: Schema.optionalKey(OneLine),
  label: Schema.optionalKey(Label),
  created_after: Schema.optionalKey(Instant),
  created_before: Schema.optionalKey(Instant)
}

const logQuery = {
  ...environmentQuery,
  offset: Schema.optionalKey(queryInteger(0, Number.MAX_SAFE_INTEGER, offsetRule)),
  tail: Schema.optionalKey(queryInteger(0, 1_000_000, tailRule)),
  follow: Schema.optionalKey(
    Schema.Literals(["true", "false"]).annotate({
      description: "`false`: end at the current end of the log. Default `true`."
    })
  )
}

const Events = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" }))

const create = HttpApiEndpoint.post("create", "/", {
  query: environmentQuery,
  payload: JobRequestBody,
  success: createdSchema(JobWire),
  error: [PaymentRequired, NotFound, Conflict, Unprocessable, InternalError, ServiceUnavailable]
})
  .middleware(WellFormed)
  .middleware(WithinBudget)
  .annotate(NeedsScope, "jobs:write")
  .annotateMerge(about("createJob", "Run a command on a fresh GPU machine", "Returns the job with status `queued`."))

const quote = HttpApiEndpoint.post("quote", "/quote", {
  query: environmentQuery,
  payload: JobRequestBody,
  success: data(QuoteWire),
  error: [NotFound, Conflict, Unprocessable, ServiceUnavailable]
})
  .middleware(WellFormed)
  .annotate(NeedsScope, "jobs:read")
  .annotateMerge(
    about("quoteJob", "Quote the cost of a job", "Creates nothing. Uses the code of admission and billing.")
  )

const listJobs = HttpApiEndpoint.get("list", "/", { query: jobListQuery, success: list(JobWire) })
  .middleware(WellFormed)
  .annotate(NeedsScope, "jobs:read")
  .annotateMerge(about("listJobs", "List jobs, newest first", "Lists the jobs of one environment."))

const get = HttpApiEndpoint.get("get", "/:id", {
  params: idParams,
  query: environmentQuery,
  success: data(JobWire),
  error: NotFound
})
  .middleware(WellFormed)
  .annotate(NeedsScope, "jobs:read")
  .annotateMerge(about("getJob", "Get a job", "`cost_usd` grows while its machine runs."))

const cancel = HttpApiEndpoint.post("cancel", "/:id/cancel", {
  params: idParams,
  query: environmentQuery,
  success: data(JobWire),
  error: [NotFound, Conflict]
})
  .middleware(WellFormed)
  .annotate(NeedsScope, "jobs:write")
  .annotateMerge(
    about(
      "cancelJob",
      "Cancel a job",
      "The status is `cancelled` once the machine is confirmed stopped; until then `cancel_requested_at` is set."
    )
  )

const logs = HttpApiEndpoint.get("logs", "/:id/logs", {
  params: idParams,
  query: logQuery,
  success: [HttpApiSchema.StreamUint8Array({ contentType: "text/plain; charset=utf-8" }), Events],
  error: NotFound
})
  .middleware(WellFormed)
  .annotate(NeedsScope, "jobs:read")
  .annotateMerge(
    about(
      "getJobLogs",
      "Read or follow a job's output",
      "The output's bytes as text; the response stays open while the job runs. With `Accept: text/event-stream` (and no higher quality for text): events `log` " +
        "(`id` is the next byte's offset, data `{text}`), `status` (a Job), `gap` (`{from,to}`), `end` " +
        "(`{status,exit_code}`); `Last-Event-ID` resumes."
    )
  )

export class JobsApi extends HttpApiGroup.make("jobs")
  .add(create, quote, listJobs, get, cancel, logs)
  .middleware(Idempotent)
  .middleware(Authorized)
  .prefix("/api/v1/jobs") {}
