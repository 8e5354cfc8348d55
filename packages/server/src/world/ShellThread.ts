/**
 * A thread that runs commands of simulated machines, one after the other. The time and randomness that the interpreter
 * may read from the host are fixed by the run, so the same run gives the same timeline.
 */
import { execute } from "@sluice/machine-shell/Execution"
import { draw } from "@sluice/machine-shell/Chance"
import type { ShellRun, Timeline } from "@sluice/machine-shell/Shell"
import { parentPort } from "node:worker_threads"

/** The first message: the thread has loaded and accepts a run. */
export const READY = "ready"

export interface Answer {
  readonly timeline: Timeline | undefined
  /** The reason for a missing timeline: a failure of the interpreter itself, never of a command. */
  readonly fault: string | undefined
}

const RealDate = globalThis.Date

const fixTimeAndChance = (run: ShellRun): void => {
  let draws = 0
  Object.assign(Math, { random: () => draw(run.seed, `host:${draws++}`) })
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [run.startedAt] : args, made),
    get: (target, name, receiver) => (name === "now" ? () => run.startedAt : Reflect.get(target, name, receiver))
  })
}

parentPort?.on("message", (run: ShellRun) => {
  fixTimeAndChance(run)
  execute(run, true).then(
    (timeline) => answer({ timeline, fault: undefined }, transferableBuffers(timeline)),
    (cause: unknown) =>
      answer({ timeline: undefined, fault: cause instanceof Error ? cause.message : String(cause) }, [])
  )
})

/**
 * Returns the buffers of a timeline that are transferred instead of copied, so that a large one does not block the
 * receiving thread.
 */
const transferableBuffers = ({ chunks, files }: Timeline): ReadonlyArray<ArrayBuffer> => {
  const all = [...chunks, ...files.filter((entry) => entry._tag === "File")].map(({ bytes }) => bytes)
  const whole = all.filter(({ buffer, byteLength }) => buffer.byteLength === byteLength).map(({ buffer }) => buffer)
  return [...new Set(whole.filter((buffer) => buffer instanceof ArrayBuffer))]
}

const answer = (value: Answer, transferred: ReadonlyArray<ArrayBuffer>): void =>
  parentPort?.postMessage(value, [...transferred])

parentPort?.postMessage(READY)
