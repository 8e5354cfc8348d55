/**
 * Implements `sluice jobs run`: shows the price, starts the job, follows it to its end, and exits with its exit code.
 * Ctrl-C detaches from the job and leaves it running; a second Ctrl-C within two seconds cancels the job.
 */
import type { JobWire } from "@sluice/api/jobs/JobWire"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type { Connection } from "../connection/Connection.ts"
import { connection } from "../connection/Connection.ts"
import { Ended, EXIT } from "../connection/Failure.ts"
import { infra } from "../connection/Infra.ts"
import { confirm } from "../terminal/Confirm.ts"
import { Interrupts, type Signal } from "../terminal/Interrupts.ts"
import { Output } from "../terminal/Output.ts"
import type { JobFlags } from "./JobFlags.ts"
import { comeBackText, endText, quoteText } from "./JobText.ts"
import { quoteJob, submitJob, wantedJob } from "./Submit.ts"
import { event, jobNow, watch } from "./Watch.ts"

export interface RunFlags extends JobFlags {
  readonly detach: boolean
  readonly dryRun: boolean
  readonly yes: boolean
}

export const run = Effect.fnUntraced(function* (flags: RunFlags) {
  const out = yield* Output
  const connected = yield* connection
  const body = yield* wantedJob(connected, flags)
  const quote = yield* quoteJob(connected, body)
  const priceText = quoteText(quote, { type: body.gpu_type, count: body.gpu_count, minutes: body.max_runtime_minutes })
  if (flags.dryRun) return yield* out.answer(quote, () => priceText)
  yield* out.say(priceText)
  if (!flags.detach) yield* out.event(event("quote", { quote }))
  if (out.isInteractive && quote.affordable && !flags.yes && !(yield* confirm("Run it?"))) {
    yield* out.say("No job was created.")
    return yield* new Ended({ code: EXIT.failed })
  }
  // From here on a job may exist: signals are queued until its id is known.
  const signals = yield* (yield* Interrupts).capture
  const job = yield* submitJob(connected, body)
  if (flags.detach) {
    yield* out.answer(job, ({ id }) => id)
    return yield* out.say(`The job continues. To follow or stop it:\n${comeBackText(job.id)}`)
  }
  yield* out.say(`Job ${job.id} (${job.name})`)
  yield* out.event(event("job", { job }))
  const watching = watch(connected, job.id, { log: { offset: 0, tail: undefined, follow: true }, steps: true })
  const signal = yield* Effect.raceFirst(Effect.as(watching, undefined), Queue.take(signals))
  if (signal !== undefined) return yield* detach(connected, job, signal, signals)
  const ended = yield* jobNow(connected, job.id)
  yield* out.event(event("end", { job: ended }))
  yield* out.say(endText(ended))
  const code = exitCodeOfJob(ended)
  if (code !== 0) return yield* new Ended({ code })
}, Effect.scoped)

/** Returns the command's own exit code, or the code that stands for another end. */
export const exitCodeOfJob = (job: Pick<JobWire, "status" | "exit_code">): number => {
  if (job.status === "succeeded") return 0
  if (job.status === "timed_out") return EXIT.timedOut
  if (job.status === "cancelled") return EXIT.detached
  return job.exit_code ?? EXIT.failed
}

/** A second Ctrl-C within this time cancels the job. */
const SECOND_PRESS = Duration.seconds(2)

const detach = Effect.fnUntraced(function* (
  connected: Connection,
  job: JobWire,
  signal: Signal,
  signals: Queue.Dequeue<Signal>
) {
  const out = yield* Output
  yield* out.progress("")
  yield* out.event(event("detached", { job_id: job.id }))
  yield* out.say(`Detached; the job continues. To follow or stop it:\n${comeBackText(job.id)}`)
  if (signal === "SIGINT") {
    yield* out.say("(Ctrl-C again within 2 seconds cancels the job.)")
    const second = yield* Effect.timeoutOption(Queue.take(signals), SECOND_PRESS)
    if (second._tag === "Some" && second.value === "SIGINT") {
      const asked = yield* infra(connected, (client) => client.jobs.cancel({ params: { id: job.id }, query: {} }))
      yield* out.event(event("cancelling", { job: asked.data }))
      yield* out.say("Cancelling the job; its machine is being stopped.")
    }
  }
  return yield* new Ended({ code: EXIT.detached })
})
