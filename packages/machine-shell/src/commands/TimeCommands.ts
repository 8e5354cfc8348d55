/** Commands that read or move the machine's clock, and the jobs that run beside each other on it. */
import { defineCommand } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { child } from "../core/Children.ts"
import { plainly } from "../core/Explanations.ts"
import { LAST_JOB } from "../core/Determinism.ts"
import { FIRST_JOB, signalOf } from "./JobCommands.ts"
import { MARK } from "../core/Syntax.ts"
import { CAPTURED } from "../core/Forks.ts"
import type { JobBody } from "../core/Forks.ts"
import { fail, ok } from "../core/ShellSession.ts"
import type { CommandResult, ShellSession } from "../core/ShellSession.ts"

const UNITS: Readonly<Record<string, number>> = { "": 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of `10`, `0.5m`, `infinity`; undefined when it is none. */
const durationOf = (text: string): number | undefined => {
  if (/^inf(inity)?$/i.test(text)) return Infinity
  const match = /^(\d+(?:\.\d*)?(?:e\d{1,2})?|\.\d+)([smhd]?)$/.exec(text)
  return match === null ? undefined : Number(match[1]) * UNITS[match[2]!]!
}

export const timeCommands = (session: ShellSession): ReadonlyArray<Command> => {
  const { clock } = session
  const tics: Array<number> = []
  return [
    defineCommand("sleep", async (args) => {
      if (args.length === 0) return fail("sleep: missing operand")
      let total = 0
      for (const arg of args) {
        const ms = durationOf(arg)
        if (ms === undefined) return fail(`sleep: invalid time interval '${arg}'`)
        total += ms
      }
      clock.sleep(total)
      return ok()
    }),
    defineCommand("timeout", async (args, context) => limited(session, args, context)),
    defineCommand(`${MARK}fork`, async ([body, arrays = "", mode], context) =>
      forked(session, session.bodies[Number(body)]!, arrays, mode === CAPTURED, context)
    ),
    defineCommand(`${MARK}tic`, async () => {
      tics.push(clock.now)
      return ok()
    }),
    defineCommand(`${MARK}toc`, async ([code = "0"]) => {
      const seconds = (clock.now - (tics.pop() ?? clock.now)) / 1000
      const real = `${Math.floor(seconds / 60)}m${(seconds % 60).toFixed(3)}s`
      return { stdout: "", stderr: `\nreal\t${real}\nuser\t0m0.000s\nsys\t0m0.000s\n`, exitCode: Number(code) }
    }),
    defineCommand(`${MARK}random`, async () => ok(`${session.random() & 0x7fff}\n`)),
    defineCommand(`${MARK}epochseconds`, async () => ok(`${Math.floor(clock.now / 1000)}\n`)),
    defineCommand(`${MARK}epochrealtime`, async () => ok(`${(clock.now / 1000).toFixed(6)}\n`)),
    defineCommand(`${MARK}seconds`, async () => ok(`${Math.floor((clock.now - session.run.startedAt) / 1000)}\n`))
  ]
}

/** A job that sleeps more often is taken for one that never ends by itself: it shall not use up the run's commands. */
const MAX_SLEEPS = 5_000

/** `cmd &`: the job runs to its end now, on the clock, and then the clock is set back to where the script goes on. */
const forked = async (
  session: ShellSession,
  body: JobBody,
  arrays: string,
  isCaptured: boolean,
  context: ResolvedCommandContext
): Promise<CommandResult> => {
  const { clock, console, jobs } = session
  const startedAt = clock.now
  const outer = console.job
  const job = { id: FIRST_JOB + jobs.length, parent: outer, endsAt: Infinity, exitCode: 143, awaited: false }
  jobs.push(job)
  console.job = job.id
  const { copies } = console
  session.nextScript = body
  const env = Object.fromEntries(context.env)
  const { result, met } = await clock.within(
    session.run.untilMs,
    (signal) => context.exec!(`${settings(context)}${assigned(arrays)}\n:`, { env, cwd: context.cwd, signal }),
    MAX_SLEEPS
  )
  if (!isCaptured) console.write(clock.now, result.stdout, "text")
  if (!met) {
    if (!isCaptured) console.write(clock.now, plainly(result.stderr), "text")
    Object.assign(job, { endsAt: clock.now, exitCode: result.exitCode })
  }
  console.job = outer
  console.copies = copies
  clock.now = startedAt
  await context.assignShellVariable?.(LAST_JOB, String(job.id))
  // Nobody waits for the output of a job that does not end.
  return isCaptured && !met ? { ...result, exitCode: 0 } : ok()
}

/** Of what `declare -a; declare -A` says, only what takes less time to read. */
const assigned = (arrays: string): string =>
  arrays.replace(/^declare -(a|A) (\w+)=/gm, (_, kind, name) =>
    kind === "a" ? `${name}=` : `declare -A ${name}\n${name}=`
  )

/** The options of the shell that forks: the interpreter gives a script none. */
const settings = ({ env }: ResolvedCommandContext): string => {
  const set = (env.get("SHELLOPTS") ?? "").split(":").filter((name) => INHERITED.has(name))
  return set.length === 0 ? "" : `set ${set.map((name) => `-o ${name}`).join(" ")}\n`
}
const INHERITED: ReadonlySet<string> = new Set(["errexit", "nounset", "pipefail"])

/** `timeout [-s SIGNAL] [-k DURATION] DURATION COMMAND...` */
const limited = async (
  session: ShellSession,
  all: Array<string>,
  context: ResolvedCommandContext
): Promise<CommandResult> => {
  const onConsole = all[0] === MARK
  const args = onConsole ? all.slice(1) : [...all]
  let signal: number | undefined = 15
  let preserved = false
  while (args[0]?.startsWith("-") === true) {
    const option = args.shift()!
    const value = /^-[sk]$|^--(signal|kill-after)$/.test(option) ? args.shift() : option.replace(/^(--[^=]*=|-.)/, "")
    if (/^-s|^--signal/.test(option)) signal = signalOf(value ?? "")
    if (option === "--preserve-status") preserved = true
  }
  const [limit, name, ...rest] = args
  if (limit === undefined || name === undefined) return fail("timeout: missing operand", 125)
  if (signal === undefined) return fail("timeout: invalid signal", 125)
  const ms = durationOf(limit)
  if (ms === undefined) return fail(`timeout: invalid time interval '${limit}'`, 125)
  session.nextScript = onConsole ? "streamed" : "captured"
  const { copies } = session.console
  const { result, met } = await session.clock.within(ms === 0 ? Infinity : session.clock.now + ms, (signal) =>
    child(session, context, name, rest, { signal })
  )
  // One that is broken off ends no copy of its own.
  session.console.copies = copies
  if (!met) return result
  // Who kills hard dies with what was killed.
  return {
    ...result,
    stderr: result.stderr.replace(/bash: execution aborted\n/g, ""),
    exitCode: signal === 9 || preserved ? 128 + signal : 124
  }
}
