/**
 * A job before somebody's eyes: its steps with the time they took and a ticking cost on standard error, its output on
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
  /** Show the steps and the cost, not the output alone. */
  readonly steps: boolean
}

/** Returns at the end of the log: with `follow` the job is over then. */
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
      log: (bytes, text, next) => (out.json ? out.event(event("log", { next, text })) : out.data(bytes)),
      gap: (from, to) => (out.json ? out.event(event("gap", { from, to })) : out.data(gapLine({ from, to }))),
      status: (job) => (options.steps ? step(out, seen, begun, job) : out.event(event("status", { job }))),
      lost: (failure) => out.say(`Connection lost (${failure.message}). Trying again ...`)
    }
    const reading = readLog(connection, { id, ...options.log }, sink)
    yield* out.live && options.steps ? Effect.raceFirst(reading, ticking(connection, id, seen)) : reading
    yield* out.progress("")
  })

/** The final state, for the last line. */
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
  if (out.json) return yield* out.event(event("status", { job }))
  // How it ended is told once its final cost is known.
  if (job.ended_at === null) yield* out.say(`${duration(now - begun).padStart(7)}  ${job.status}`)
})

/** Never returns: the line of progress once a second, the cost from the service every few seconds. */
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
