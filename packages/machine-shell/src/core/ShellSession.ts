/**
 * State that the commands of one run share: the clock, the console, the background jobs, the random sequence, the
 * handlers of traps.
 */
import { Console } from "./Console.ts"
import { LocalClock } from "./LocalClock.ts"
import { hash32 } from "../Chance.ts"
import type { Exports } from "../repairs/Exports.ts"
import { WORKSPACE } from "./MachineFs.ts"
import type { ShellRun } from "../Shell.ts"
import { endsLikeWindows } from "./Explanations.ts"
import type { JobBody } from "./Forks.ts"
import { RUNNERS } from "../Programs.ts"

export type CommandResult = { stdout: string; stderr: string; exitCode: number; stdoutKind?: "text" | "bytes" }

export const ok = (stdout = ""): CommandResult => ({ stdout, stderr: "", exitCode: 0 })
export const fail = (stderr: string, exitCode = 1): CommandResult => ({ stdout: "", stderr: `${stderr}\n`, exitCode })

interface Job {
  readonly id: number
  /** The job that started this one; 0 for the command itself. */
  readonly parent: number
  endsAt: number
  exitCode: number
  /** True: a `wait` has waited for this job, and `wait -n` skips it. */
  isAwaited: boolean
}

export class ShellSession {
  readonly run: ShellRun
  readonly clock: LocalClock
  readonly console: Console
  readonly jobs: Array<Job> = []
  /** The scripts of the jobs of all scripts. */
  readonly bodies: Array<JobBody> = []
  /** The functions that the shells of this run export to each other. */
  readonly exports: Exports = new Map()
  /** The variables that the run's command starts with. */
  readonly environment: Readonly<Record<string, string>>
  /** The names of the world's programs. */
  readonly programs: ReadonlySet<string>
  /** The names of commands that run others. With the mark as first argument they let these write to the console. */
  readonly runners: ReadonlySet<string>
  /** The rewriting of the next script that the interpreter parses. A `JobBody` is appended to it, rewritten already. */
  nextScript: "streamed" | "captured" | JobBody = "streamed"
  /** The handler that `trap ... EXIT` set, and the variables at the last `exit` or `kill`. */
  exitHandler = ""
  exitVariables: Record<string, string> = {}
  /** Handlers by the number of their signal. An empty one ignores the signal. */
  readonly signalHandlers = new Map<number, string>()
  /** True once a script had lines that end as on Windows. */
  hasWindowsLines: boolean
  /** The exit code of a command that has killed itself. */
  killCode: number | undefined
  #draws = 0
  readonly #end: () => void

  constructor(run: ShellRun, end: () => void) {
    this.run = run
    this.environment = environmentOf(run)
    this.hasWindowsLines = endsLikeWindows(run.command)
    this.programs = new Set(Object.keys(run.programs ?? {}))
    this.runners = new Set([...RUNNERS, ...this.programs])
    this.clock = new LocalClock(run.startedAt)
    this.console = new Console(end)
    this.#end = end
  }

  kill(code: number, variables: Record<string, string>): void {
    this.killCode = code
    this.exitVariables = variables
    this.#end()
  }

  /** Returns the next number of the run's own sequence, 0 to 2^32 - 1. */
  random(): number {
    return hash32(this.run.seed, `shell:${this.#draws++}`)
  }

  endOf(job: number): number {
    return this.jobs.find((one) => one.id === job)?.endsAt ?? Infinity
  }
}

const environmentOf = (run: ShellRun): Record<string, string> => ({
  HOME: WORKSPACE,
  USER: "root",
  LOGNAME: "root",
  SHELL: "/bin/bash",
  TERM: "dumb",
  LANG: "C.UTF-8",
  TZ: "UTC",
  CUDA_VISIBLE_DEVICES: Array.from({ length: run.gpu.count }, (_, i) => i).join(","),
  ...run.env,
  HOSTNAME: run.hostname
})
