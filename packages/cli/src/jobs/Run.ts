/**
 * `sluice jobs run`: price first, then the job before one's eyes until it ends, and its exit code as one's own. Ctrl-C lets
 * go of the job, it does not stop it; a second one within two seconds does.
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
  const told = quoteText(quote, { type: body.gpu_type, count: body.gpu_count, minutes: body.max_runtime_minutes })
  if (flags.dryRun) return yield* out.answer(quote, () => told)
  yield* out.say(told)
  if (!flags.detach) yield* out.event(event("quote", { quote }))
  if (out.interactive && quote.affordable && !flags.yes && !(yield* confirm("Run it?"))) {
    yield* out.say("Nothing was started.")
    return yield* new Ended({ code: EXIT.failed })
  }
  // From here on a job may exist: Ctrl-C waits until it has a name.
  const signals = yield* (yield* Interrupts).captured
  const job = yield* submitJob(connected, body)
  if (flags.detach) {
    yield* out.answer(job, ({ id }) => id)
    return yield* out.say(`The job goes on by itself. To come back:\n${comeBackText(job.id)}`)
  }
  yield* out.say(`Job ${job.id} (${job.name})`)
  yield* out.event(event("job", { job }))
  const watching = watch(connected, job.id, { log: { offset: 0, tail: undefined, follow: true }, steps: true })
  const signal = yield* Effect.raceFirst(Effect.as(watching, undefined), Queue.take(signals))
  if (signal !== undefined) return yield* letGo(connected, job, signal, signals)
  const ended = yield* jobNow(connected, job.id)
  yield* out.event(event("end", { job: ended }))
  yield* out.say(endText(ended))
  const code = exitCodeOfJob(ended)
  if (code !== 0) return yield* new Ended({ code })
}, Effect.scoped)

/** The command's own exit code, or what stands for how else it ended. */
export const exitCodeOfJob = (job: Pick<JobWire, "status" | "exit_code">): number => {
  if (job.status === "succeeded") return 0
  if (job.status === "timed_out") return EXIT.timedOut
  if (job.status === "cancelled") return EXIT.detached
  return job.exit_code ?? EXIT.failed
}

/** Within this a second Ctrl-C means: stop the job too. */
const SECOND_PRESS = Duration.seconds(2)

const letGo = Effect.fnUntraced(function* (
  connected: Connection,
  job: JobWire,
  signal: Signal,
  signals: Queue.Dequeue<Signal>
) {
  const out = yield* Output
  yield* out.progress("")
  yield* out.event(event("detached", { job_id: job.id }))
  yield* out.say(`Detached; the job goes on. To come back:\n${comeBackText(job.id)}`)
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
