/** Renders a job, a list of jobs and a quote as text for people. */
import type { JobWire, QuoteWire } from "@sluice/api/jobs/JobWire"
import { duration, limit, size, time, timeOrNull, usd } from "../terminal/Amounts.ts"
import { clip, pairs, table } from "../terminal/Table.ts"
import { quote as quoted } from "./ShellWords.ts"

type Quote = typeof QuoteWire.Type

/** Returns the quote as text: price, maximum cost, hold, and the available money. */
export const quoteText = (
  quote: Quote,
  gpus: { readonly type: string; readonly count: number; readonly minutes: number }
) => {
  const budget =
    quote.budget_remaining_usd === null ? "" : `, ${usd(quote.budget_remaining_usd)} left of the month's budget`
  const lines = [
    `${gpus.count} x ${gpus.type} at ${usd(quote.cost_per_hour)} an hour, for at most ${limit(gpus.minutes)}`,
    `${usd(quote.max_cost_usd)} at most, held while it runs; ${usd(quote.available_usd)} available${budget}`
  ]
  return quote.affordable
    ? lines.join("\n")
    : [...lines, "The balance or the budget is too low for this job: add credit, or reduce --gpus or --timeout."].join(
        "\n"
      )
}

/** Returns a line like `succeeded, exit code 0, ran 1m 05s, cost $0.0421, 1,204 bytes of log`. */
export const endText = (job: JobWire): string => {
  const parts = [
    job.status.replace("_", " "),
    job.exit_code === null ? null : `exit code ${job.exit_code}`,
    job.started_at === null ? null : `ran ${duration(between(job.started_at, job.ended_at))}`,
    job.cost_usd === null ? "no cost" : `cost ${usd(job.cost_usd)}`,
    `${size(job.log_bytes)} of log${job.logs_truncated ? " (the middle was dropped)" : ""}`
  ]
  const why = job.error === null ? "" : `\n${job.error}`
  return parts.filter((part) => part !== null).join(", ") + why
}

export const jobText = (job: JobWire): string =>
  pairs([
    ["id", job.id],
    ["name", job.name],
    ["description", job.description],
    [
      "status",
      job.cancel_requested_at !== null && job.ended_at === null ? `${job.status} (cancel requested)` : job.status
    ],
    ["reason", job.status_reason],
    ["error", job.error],
    ["exit code", job.exit_code === null ? null : String(job.exit_code)],
    ["command", job.command],
    ["gpu", `${job.gpu_count} x ${job.gpu_type}`],
    ["image", job.image],
    ["template", job.template],
    ["region", job.region],
    ["volume", job.storage_id],
    ["variables", job.env_keys.length === 0 ? null : job.env_keys.join(", ")],
    [
      "labels",
      job.labels === null
        ? null
        : Object.entries(job.labels)
            .map(([key, value]) => `${key}=${value}`)
            .join(", ")
    ],
    ["longest run", limit(job.max_runtime_minutes)],
    ["created", time(job.created_at)],
    ["started", timeOrNull(job.started_at)],
    ["ended", timeOrNull(job.ended_at)],
    ["ran", job.started_at === null || job.ended_at === null ? null : duration(between(job.started_at, job.ended_at))],
    ["price", job.cost_per_hour === null ? null : `${usd(job.cost_per_hour)} an hour`],
    ["cost", job.cost_usd === null ? null : usd(job.cost_usd)],
    ["log", `${size(job.log_bytes)}${job.logs_truncated ? " (the middle was dropped)" : ""}`],
    ["machine", job.instance_id]
  ])

export const jobsText = (jobs: ReadonlyArray<JobWire>): string =>
  jobs.length === 0
    ? "No jobs."
    : table(
        ["ID", "NAME", "STATUS", "GPU", "CREATED", "COST", "COMMAND"],
        jobs.map((job) => [
          job.id,
          clip(job.name, 24),
          job.status,
          `${job.gpu_count}x${job.gpu_type}`,
          time(job.created_at),
          job.cost_usd === null ? "-" : usd(job.cost_usd),
          clip(job.command, 40)
        ]),
        ["COST"]
      )

/** Returns the commands that show, follow and cancel a running job. */
export const comeBackText = (id: string): string =>
  `  sluice jobs logs -f ${quoted(id)}\n  sluice jobs show ${quoted(id)}\n  sluice jobs cancel ${quoted(id)}`

const between = (from: string, to: string | null): number => (to === null ? 0 : Date.parse(to) - Date.parse(from))
