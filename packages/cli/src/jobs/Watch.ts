/**
 * Shows a job while it runs: its steps with their durations and the growing cost on standard error, its output on
 * standard output byte for byte. With `--json` both are events on standard output.
 */
import { gapLine, type JobWire } from "@sluice/api/jobs/JobWire"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as HttpClient from "effect/http/HttpClient"
import type { Connection } from "../connection/Connection.ts"
import type { Failure } from "../connection/Failure.ts"
import { infra } from "../connection/Infra.ts"
import { duration, usd } from "../terminal/Amounts.ts"
import { Output } from "../terminal/Output.ts"
import { type LogRequest, type LogSink, readLog } from "./LogReader.ts"

export interface WatchOptions {
  readonly log: Omit<LogRequest, "id">
  /** Show the steps and the cost beside the output. */
  readonly steps: boolean
}

/** Returns at the end of the log; with `follow` the job has ended then. */
export const watch = (
  connection: Connection,
  id: string,
  options: WatchOptions
): Effect.Effect<void, Failure, Output | HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const out = yield* Output
    const begun = yield* Clock.currentTimeMillis
    const seen: Seen = { status: undefined, since: begun, cost: null }
    const sink: LogSink = {
      log: (bytes, text, next) => (out.isJson ? out.event(event("log", { next, text })) : out.data(bytes)),
      gap: (from, to) => (out.isJson ? out.event(event("gap", { from, to })) : out.data(gapLine({ from, to }))),
      status: (job) => (options.steps ? step(out, seen, begun, job) : out.event(event("status", { job }))),
      lost: (failure) => out.say(`Connection lost (${failure.message}). Reconnecting ...`)
    }
    const reading = readLog(connection, { id, ...options.log }, sink)
    yield* out.isLive && options.steps ? Effect.raceFirst(reading, ticking(connection, id, seen)) : reading
    yield* out.progress("")
  })

/** Returns the job's current state; retries a few times if the service cannot be reached. */
export const jobNow = (connection: Connection, id: string): Effect.Effect<JobWire, Failure, HttpClient.HttpClient> =>
  Effect.map(
    infra(connection, (client) => client.jobs.get({ params: { id }, query: {} })),
    ({ data }) => data
  ).pipe(
    Effect.retry({
      while: (failure: Failure) => failure._tag === "Unreachable",
      schedule: Schedule.spaced(AGAIN),
      times: 5
    })
  )

export const event = <A extends object>(name: string, fields: A) => ({ event: name, ...fields })

interface Seen {
  status: string | undefined
  since: number
  cost: number | null
}

const AGAIN = Duration.millis(500)
const TICK = Duration.seconds(1)
const COST_EVERY = 3

const step = Effect.fnUntraced(function* (out: Output["Service"], seen: Seen, begun: number, job: JobWire) {
  const now = yield* Clock.currentTimeMillis
  if (job.status === seen.status) return
  seen.status = job.status
  seen.since = now
  seen.cost = job.cost_usd
  if (out.isJson) return yield* out.event(event("status", { job }))
  // The end is reported later, once the final cost is known.
  if (job.ended_at === null) yield* out.say(`${duration(now - begun).padStart(7)}  ${job.status}`)
})

/** Redraws the progress line every second and refreshes the cost every few seconds. Never returns. */
const ticking = Effect.fnUntraced(function* (connection: Connection, id: string, seen: Seen) {
  const out = yield* Output
  for (let tick = 1; ; tick++) {
    yield* Effect.sleep(TICK)
    if (tick % COST_EVERY === 0 && seen.status !== "queued") {
      const job = yield* Effect.option(infra(connection, (client) => client.jobs.get({ params: { id }, query: {} })))
      if (job._tag === "Some") seen.cost = job.value.data.cost_usd
    }
    const now = yield* Clock.currentTimeMillis
    const cost = seen.cost === null ? "" : `  ${usd(seen.cost)}`
    if (seen.status !== undefined)
      yield* out.progress(`${duration(now - seen.since).padStart(7)}  ${seen.status}${cost}`)
  }
})
