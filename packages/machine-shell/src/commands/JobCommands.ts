/** Commands that wait for background jobs, list them and send them signals. */
import { defineCommand } from "just-bash"
import type { Command } from "just-bash"
import { MARK } from "../core/Syntax.ts"
import { fail, ok } from "../core/ShellSession.ts"
import type { ShellSession } from "../core/ShellSession.ts"

/** The first process id of a background job. */
export const FIRST_JOB = 100
/** The process id of the shell, `$$`. */
export const SHELL = 42

const SIGNALS: Readonly<Record<string, number>> = {
  EXIT: 0,
  HUP: 1,
  INT: 2,
  QUIT: 3,
  ABRT: 6,
  KILL: 9,
  USR1: 10,
  SEGV: 11,
  USR2: 12,
  PIPE: 13,
  ALRM: 14,
  TERM: 15,
  CONT: 18,
  STOP: 19,
  TSTP: 20
}

/** Returns the number of `9`, `KILL` or `SIGKILL`; undefined for any other text. */
export const signalOf = (text: string): number | undefined =>
  /^\d{1,2}$/.test(text) ? Number(text) : SIGNALS[text.toUpperCase().replace(/^SIG/, "")]

export const jobCommands = (session: ShellSession): ReadonlyArray<Command> => {
  const { clock, jobs } = session
  /** Returns the jobs of the shell or job that asks. A job that waited for all jobs would wait for itself forever. */
  const ownJobs = () => jobs.filter((job) => job.parent === session.console.currentJob)
  const jobOf = (text: string, among = jobs) =>
    text.startsWith("%") ? ownJobs()[Number(text.slice(1)) - 1] : among.find((job) => job.id === Number(text))
  const sleepUntil = (at: number) => clock.sleep(Math.max(clock.now, at) - clock.now)
  return [
    defineCommand(`${MARK}wait`, async (args) => {
      const named = args.filter((arg) => /^%?\d+$/.test(arg))
      const own = ownJobs()
      const awaited = named.length === 0 ? own : named.flatMap((arg) => jobOf(arg, own) ?? [])
      if (args[0] === "-n") {
        const unawaited = awaited.filter((job) => !job.isAwaited).sort((a, b) => a.endsAt - b.endsAt)
        if (unawaited[0] === undefined) return { ...ok(), exitCode: 127 }
        sleepUntil(unawaited[0].endsAt)
        unawaited[0].isAwaited = true
        return { ...ok(), exitCode: unawaited[0].exitCode }
      }
      sleepUntil(Math.max(clock.now, ...awaited.map((job) => job.endsAt)))
      for (const job of awaited) job.isAwaited = true
      if (named.length === 0) return ok()
      const last = awaited[awaited.length - 1]
      if (last === undefined) return fail(`wait: pid ${named[0]} is not a child of this shell`, 127)
      return { ...ok(), exitCode: last.exitCode }
    }),
    defineCommand("kill", async (args, { env }) => {
      if (args[0] === "-l") return ok(`${Object.keys(SIGNALS).slice(1).join(" ")}\n`)
      const [option = "", value = ""] = args
      const asked = /^-[sn]$/.test(option) ? value : option.startsWith("-") ? option.slice(1) : "TERM"
      const signal = signalOf(asked)
      if (signal === undefined) return fail(`kill: ${asked}: invalid signal specification`)
      const named = args.slice(/^-[sn]$/.test(option) ? 2 : option.startsWith("-") ? 1 : 0)
      for (const one of named) {
        const job = jobOf(one)
        if (Number(one) === SHELL && session.console.currentJob === 0) {
          const handler = signal === 9 ? undefined : session.signalHandlers.get(signal)
          if (handler) return fail(`kill: ${asked}: its handler does not run on a simulated machine`)
          if (handler === undefined && isTerminating(signal)) session.kill(128 + signal, Object.fromEntries(env))
          continue
        }
        if (job === undefined || job.endsAt <= clock.now) return fail(`kill: (${one}) - No such process`)
        if (isTerminating(signal)) Object.assign(job, { endsAt: clock.now, exitCode: 128 + signal })
      }
      return ok()
    }),
    defineCommand("jobs", async (args) => {
      const running = ownJobs().filter((job) => job.endsAt > clock.now)
      const line = (id: number, index: number) =>
        args.includes("-p") ? `${id}\n` : `[${index + 1}]   Running    ${id}\n`
      return ok(running.map(({ id }, index) => line(id, index)).join(""))
    })
  ]
}

/**
 * False for signal 0, which only asks whether a process exists, and for 17 to 23, such as those that stop and continue:
 * they have no effect here.
 */
const isTerminating = (signal: number): boolean => signal > 0 && (signal < 17 || signal > 23)
