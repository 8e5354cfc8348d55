/** One line of a terminal that says how far it is; without a terminal, a line now and then. */
import type { WriteStream } from "node:tty"
import type { Outcome } from "../report/Outcome.ts"
import type { Planned } from "../shrink/Shrink.ts"
import type { Progress } from "./RunOptions.ts"

const HOUR = 3_600_000
const QUIET_MS = 5_000

const hours = (ms: number) => (ms / HOUR).toFixed(1)

export const progressLine = (stream: WriteStream) => {
  let lastAt = -QUIET_MS
  const say = (text: string) => {
    const now = performance.now()
    if (now - lastAt < (stream.isTTY ? 100 : QUIET_MS)) return
    lastAt = now
    stream.write(stream.isTTY ? `\r\u001b[K${text}` : `${text}\n`)
  }
  return {
    within: ({ jobs, now, until }: Progress) =>
      say(
        now < until
          ? `${hours(now)} of ${hours(until)} virtual hours, ${jobs} jobs`
          : `${hours(now)} virtual hours: no more users, what they began in ${hours(until)} hours ends; ${jobs} jobs`
      ),
    between: (run: number, outcome: Outcome) =>
      say(`run ${run}, seed ${outcome.scenario.seed}: ${outcome.jobs.length} jobs, ${outcome.strikes.length} faults`),
    shrinking: (runs: number, { plan }: Planned) =>
      say(`looking for a smaller one, run ${runs}: ${plan.items.length} items of the plan break the same`),
    end: () => (stream.isTTY ? stream.write("\r\u001b[K") : false)
  }
}
