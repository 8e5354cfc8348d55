/** Commands that read or move the machine's clock, and the jobs that run beside each other on it. */
import { defineCommand } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { runChild } from "../core/Children.ts"
import { rewriteHints } from "../core/Explanations.ts"
import { LAST_JOB } from "../core/Determinism.ts"
import { FIRST_JOB, signalOf } from "./JobCommands.ts"
import { MARK } from "../core/Syntax.ts"
import { CAPTURED } from "../core/Forks.ts"
import type { JobBody } from "../core/Forks.ts"
import { fail, ok } from "../core/ShellSession.ts"
import type { CommandResult, ShellSession } from "../core/ShellSession.ts"

const UNITS: Readonly<Record<string, number>> = { "": 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Returns the milliseconds of `10`, `0.5m` or `infinity`; undefined for any other text. */
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
    defineCommand("timeout", async (args, context) => runWithTimeout(session, args, context)),
    defineCommand(`${MARK}fork`, async ([body, arrays = "", mode], context) =>
      runJob(session, session.bodies[Number(body)]!, arrays, mode === CAPTURED, context)
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

/**
 * A job that sleeps more often than this counts as one that never ends by itself. It must not use up the commands of
 * the run.
 */
const MAX_SLEEPS = 5_000

/**
 * Runs the job of `cmd &` to its end now, on the clock, then sets the clock back to the time at which the script goes
 * on.
 */
const runJob = async (
  session: ShellSession,
  body: JobBody,
  arrays: string,
  isCaptured: boolean,
  context: ResolvedCommandContext
): Promise<CommandResult> => {
  const { clock, console, jobs } = session
  const startedAt = clock.now
  const outer = console.currentJob
  const job = { id: FIRST_JOB + jobs.length, parent: outer, endsAt: Infinity, exitCode: 143, isAwaited: false }
  jobs.push(job)
  console.currentJob = job.id
  const { copies } = console
  session.nextScript = body
  const env = Object.fromEntries(context.env)
  const { result, isMet } = await clock.runUntil(
    session.run.untilMs,
    (signal) => context.exec!(`${optionsOf(context)}${assignArrays(arrays)}\n:`, { env, cwd: context.cwd, signal }),
    MAX_SLEEPS
  )
  if (!isCaptured) console.write(clock.now, result.stdout, "text")
  if (!isMet) {
    if (!isCaptured) console.write(clock.now, rewriteHints(result.stderr), "text")
    Object.assign(job, { endsAt: clock.now, exitCode: result.exitCode })
  }
  console.currentJob = outer
  console.copies = copies
  clock.now = startedAt
  await context.assignShellVariable?.(LAST_JOB, String(job.id))
  // A capture does not wait for the output of a job that does not end.
  return isCaptured && !isMet ? { ...result, exitCode: 0 } : ok()
}

/** Turns the output of `declare -a; declare -A` into assignments that take less time to parse. */
const assignArrays = (arrays: string): string =>
  arrays.replace(/^declare -(a|A) (\w+)=/gm, (_, kind, name) =>
    kind === "a" ? `${name}=` : `declare -A ${name}\n${name}=`
  )

/** Returns a command that sets the options of the shell that forks: a new script starts without them. */
const optionsOf = ({ env }: ResolvedCommandContext): string => {
  const set = (env.get("SHELLOPTS") ?? "").split(":").filter((name) => INHERITED.has(name))
  return set.length === 0 ? "" : `set ${set.map((name) => `-o ${name}`).join(" ")}\n`
}
const INHERITED: ReadonlySet<string> = new Set(["errexit", "nounset", "pipefail"])

/** Runs `timeout [-s SIGNAL] [-k DURATION] DURATION COMMAND...`. */
const runWithTimeout = async (
  session: ShellSession,
  all: Array<string>,
  context: ResolvedCommandContext
): Promise<CommandResult> => {
  const isOnConsole = all[0] === MARK
  const args = isOnConsole ? all.slice(1) : [...all]
  let signal: number | undefined = 15
  let isPreserved = false
  while (args[0]?.startsWith("-") === true) {
    const option = args.shift()!
    const value = /^-[sk]$|^--(signal|kill-after)$/.test(option) ? args.shift() : option.replace(/^(--[^=]*=|-.)/, "")
    if (/^-s|^--signal/.test(option)) signal = signalOf(value ?? "")
    if (option === "--preserve-status") isPreserved = true
  }
  const [limit, name, ...rest] = args
  if (limit === undefined || name === undefined) return fail("timeout: missing operand", 125)
  if (signal === undefined) return fail("timeout: invalid signal", 125)
  const ms = durationOf(limit)
  if (ms === undefined) return fail(`timeout: invalid time interval '${limit}'`, 125)
  session.nextScript = isOnConsole ? "streamed" : "captured"
  const { copies } = session.console
  const { result, isMet } = await session.clock.runUntil(ms === 0 ? Infinity : session.clock.now + ms, (signal) =>
    runChild(session, context, name, rest, { signal })
  )
  // A command that is interrupted cannot end its own copy of the console.
  session.console.copies = copies
  if (!isMet) return result
  // `timeout` that kills with SIGKILL ends with it too.
  return {
    ...result,
    stderr: result.stderr.replace(/bash: execution aborted\n/g, ""),
    exitCode: signal === 9 || isPreserved ? 128 + signal : 124
  }
}
