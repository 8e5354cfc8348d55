/**
 * A thread that runs commands of simulated machines, one after the other. What the interpreter might still ask of the
 * host, the time and chance, is fixed by the run here: the same run gives the same timeline.
 */
import { execute } from "@sluice/machine-shell/Execution"
import { draw } from "@sluice/machine-shell/Chance"
import type { ShellRun, Timeline } from "@sluice/machine-shell/Shell"
import { parentPort } from "node:worker_threads"

/** The first message: the thread has loaded and can begin. */
export const READY = "ready"

export interface Answer {
  readonly timeline: Timeline | undefined
  /** Why there is no timeline: a fault of the interpreter itself, never of a command. */
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
    (timeline) => answer({ timeline, fault: undefined }, owned(timeline)),
    (cause: unknown) =>
      answer({ timeline: undefined, fault: cause instanceof Error ? cause.message : String(cause) }, [])
  )
})

/** The buffers of a timeline: moved, not copied, so that a big one does not hold up the thread that reads it. */
const owned = ({ chunks, files }: Timeline): ReadonlyArray<ArrayBuffer> => {
  const all = [...chunks, ...files.filter((entry) => entry._tag === "File")].map(({ bytes }) => bytes)
  const whole = all.filter(({ buffer, byteLength }) => buffer.byteLength === byteLength).map(({ buffer }) => buffer)
  return [...new Set(whole.filter((buffer) => buffer instanceof ArrayBuffer))]
}

const answer = (value: Answer, moved: ReadonlyArray<ArrayBuffer>): void => parentPort?.postMessage(value, [...moved])

parentPort?.postMessage(READY)
