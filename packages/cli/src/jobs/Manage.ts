/** Implements `sluice jobs list|show|logs|cancel|quote`; loaded when one of them runs. */
import type { JobWire } from "@sluice/api/jobs/JobWire"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type { Connection } from "../connection/Connection.ts"
import { connection } from "../connection/Connection.ts"
import { Ended, EXIT, UsageWrong } from "../connection/Failure.ts"
import { infra } from "../connection/Infra.ts"
import { firstOf } from "../connection/Pages.ts"
import { Interrupts } from "../terminal/Interrupts.ts"
import { Output } from "../terminal/Output.ts"
import type { JobFlags } from "./JobFlags.ts"
import { comeBackText, endText, jobsText, jobText, quoteText } from "./JobText.ts"
import { quoteJob, wantedJob } from "./Submit.ts"
import { event, jobNow, watch } from "./Watch.ts"

export interface ListFlags {
  readonly status: Option.Option<JobWire["status"]>
  readonly name: Option.Option<string>
  readonly label: Option.Option<string>
  readonly limit: number
  readonly all: boolean
}

export const list = Effect.fnUntraced(function* (flags: ListFlags) {
  const out = yield* Output
  const connected = yield* connection
  if (flags.limit < 1) return yield* new UsageWrong({ issues: ["--limit must be 1 or more"] })
  const wanted = flags.all ? Infinity : flags.limit
  const filters = {
    ...(Option.isSome(flags.status) ? { status: flags.status.value } : {}),
    ...(Option.isSome(flags.name) ? { name: flags.name.value } : {}),
    // `--label` takes `key=value`, as `run` does; the query of the service takes `key:value`.
    ...(Option.isSome(flags.label) ? { label: flags.label.value.replace("=", ":") } : {})
  }
  const { items: jobs, total } = yield* firstOf(wanted, (page) =>
    infra(connected, (client) => client.jobs.list({ query: { ...filters, ...page } }))
  )
  yield* out.answer(jobs, jobsText)
  if (jobs.length < total) yield* out.say(`${jobs.length} of ${total} jobs; --all lists all, --limit N lists more.`)
})

export const show = Effect.fnUntraced(function* ({ id }: { readonly id: string }) {
  const out = yield* Output
  yield* out.answer(yield* jobNow(yield* connection, id), jobText)
})

export interface LogsFlags {
  readonly id: string
  readonly follow: boolean
  readonly tail: Option.Option<number>
  readonly offset: Option.Option<number>
}

export const logs = Effect.fnUntraced(function* (flags: LogsFlags) {
  const out = yield* Output
  const connected = yield* connection
  const tail = Option.getOrUndefined(flags.tail)
  const offset = Option.getOrUndefined(flags.offset)
  if (tail !== undefined && offset !== undefined) {
    return yield* new UsageWrong({ issues: ["--tail and --offset cannot be used together"] })
  }
  if ((tail ?? 0) < 0 || (offset ?? 0) < 0)
    return yield* new UsageWrong({ issues: ["--tail and --offset must be 0 or more"] })
  const reading = watch(connected, flags.id, { log: { offset: offset ?? 0, tail, follow: flags.follow }, steps: false })
  const signals = yield* (yield* Interrupts).capture
  const signal = yield* Effect.raceFirst(Effect.as(reading, undefined), Queue.take(signals))
  if (signal !== undefined) {
    if (flags.follow) yield* out.say(`The job continues. To follow or stop it:\n${comeBackText(flags.id)}`)
    return yield* new Ended({ code: EXIT.detached })
  }
  if (!flags.follow) return
  const job = yield* jobNow(connected, flags.id)
  yield* out.event(event("end", { job }))
  yield* out.say(endText(job))
}, Effect.scoped)

const POLL = Duration.millis(500)

export const cancel = Effect.fnUntraced(function* (flags: { readonly id: string; readonly noWait: boolean }) {
  const out = yield* Output
  const connected = yield* connection
  const asked = yield* infra(connected, (client) => client.jobs.cancel({ params: { id: flags.id }, query: {} }))
  const job = flags.noWait ? asked.data : yield* untilEnded(connected, asked.data)
  yield* out.progress("")
  yield* out.answer(job, (ended) =>
    ended.ended_at === null
      ? `${ended.id}: cancel requested, its machine is being stopped`
      : `${ended.id}: ${endText(ended)}`
  )
  // The job may have ended by itself at the same moment.
  if (job.ended_at !== null && job.status !== "cancelled") return yield* new Ended({ code: EXIT.failed })
})

const untilEnded = Effect.fnUntraced(function* (connected: Connection, asked: JobWire) {
  const out = yield* Output
  let job = asked
  while (job.ended_at === null) {
    yield* out.progress("Stopping the machine ...")
    yield* Effect.sleep(POLL)
    job = yield* jobNow(connected, job.id)
  }
  return job
})

export const quote = Effect.fnUntraced(function* (flags: JobFlags) {
  const out = yield* Output
  const connected = yield* connection
  const body = yield* wantedJob(connected, flags)
  const { gpu_type: type, gpu_count: count, max_runtime_minutes: minutes } = body
  yield* out.answer(yield* quoteJob(connected, body), (quoted) => quoteText(quoted, { type, count, minutes }))
})
