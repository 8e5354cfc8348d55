/** What the commands of one run share: the clock, the console, its background jobs, its chance, its handlers. */
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
  /** The job that began it; 0 for the command itself. */
  readonly parent: number
  endsAt: number
  exitCode: number
  /** Whether a `wait` has told how it ended. */
  awaited: boolean
}

export class ShellSession {
  readonly run: ShellRun
  readonly clock: LocalClock
  readonly console: Console
  readonly jobs: Array<Job> = []
  /** What the jobs of all scripts run. */
  readonly bodies: Array<JobBody> = []
  /** The functions that their shells know of each other. */
  readonly exports: Exports = new Map()
  /** The variables that its command begins with. */
  readonly environment: Readonly<Record<string, string>>
  /** Names of those of the world. */
  readonly programs: ReadonlySet<string>
  /** Commands that run others: with the mark as first argument they let these write to the console. */
  readonly runners: ReadonlySet<string>
  /** How the next script that the interpreter parses is rewritten; or what it is followed by, which is rewritten already. */
  nextScript: "streamed" | "captured" | JobBody = "streamed"
  /** What `trap ... EXIT` set, and the variables at the `exit` or `kill` that came last. */
  exitHandler = ""
  exitVariables: Record<string, string> = {}
  /** Handlers of signals by number; "" where it is ignored. */
  readonly handled = new Map<number, string>()
  /** Whether a script that was read has lines that end as on Windows. */
  hasWindowsLines: boolean
  /** The exit code of a command that has killed itself. */
  killed: number | undefined
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
    this.killed = code
    this.exitVariables = variables
    this.#end()
  }

  /** The next number of the run's own sequence, 0 to 2^32 - 1. */
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
