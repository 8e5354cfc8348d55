/**
 * The routes of jobs. `create` is a hot path: one function, which passes the parsed body to the domain and returns
 * finished text.
 */
import { InfraApi } from "@sluice/api/InfraApi"
import { jobToWire, quoteToWire } from "@sluice/api/jobs/JobWire"
import type { Job } from "@sluice/domain/jobs/Job"
import { JobNotFound } from "@sluice/domain/jobs/JobErrors"
import type { JobFilter } from "@sluice/domain/jobs/Jobs"
import { Jobs } from "@sluice/domain/jobs/Jobs"
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { dataOf, one, page, submit } from "../http/Answer.ts"
import { jobLog } from "./JobLogHandler.ts"

const missing = (id: string) => new JobNotFound({ id })

export const jobsHandlers = HttpApiBuilder.group(InfraApi, "jobs", (handlers) =>
  Effect.gen(function* () {
    const jobs = yield* Jobs
    const logs = yield* jobLog
    return handlers
      .handleRaw("create", submit(jobs.submit, created))
      .handleRaw("quote", submit(jobs.quote, dataOf(quoteToWire)))
      .handle(
        "list",
        page((principal, request, query) => jobs.list(principal, filterOf(query), request), jobToWire)
      )
      .handle("get", one(missing, jobs.get, dataOf(jobToWire)))
      .handle("cancel", one(missing, jobs.cancel, dataOf(jobToWire)))
      .handle("logs", logs)
  })
)

/** Written as text at once: every job passes here. */
const created = (job: Job) =>
  HttpServerResponse.text(JSON.stringify({ data: jobToWire(job) }), {
    status: 201,
    contentType: "application/json",
    headers: { location: `/api/v1/jobs/${job.id}` }
  })

const filterOf = (query: {
  readonly status?: JobFilter["status"]
  readonly name?: string
  readonly label?: string
  readonly created_after?: string
  readonly created_before?: string
}): JobFilter => ({
  status: query.status,
  name: query.name,
  label: query.label === undefined ? undefined : splitLabel(query.label),
  createdAfter: query.created_after === undefined ? undefined : new Date(query.created_after),
  createdBefore: query.created_before === undefined ? undefined : new Date(query.created_before)
})

const splitLabel = (label: string): readonly [string, string] => {
  const at = label.indexOf(":")
  return [label.slice(0, at), label.slice(at + 1)]
}
