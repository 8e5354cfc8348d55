/**
 * Runs one command in a simulated bash, ahead of time: `ShellRun` in, `Timeline` out. No host file, process, network,
 * clock or chance is reached. Bounded by commands, output, disk and depth, each with a deterministic end.
 */
import { Bash, getCommandNames } from "just-bash"
import type { CommandName } from "just-bash"
import { readable } from "./repairs/Arithmetic.ts"
import { byteCommands } from "./commands/ByteCommands.ts"
import { dateCommands } from "./commands/DateCommands.ts"
import { dumpCommands } from "./commands/DumpCommands.ts"
import { fileCommands } from "./commands/FileCommands.ts"
import { filterCommands } from "./commands/FilterCommands.ts"
import { findCommands } from "./commands/FindCommand.ts"
import { gpuCommands } from "./commands/GpuCommands.ts"
import { jobCommands, SHELL } from "./commands/JobCommands.ts"
import { listCommand } from "./commands/ListCommand.ts"
import { placeCommands } from "./commands/PlaceCommands.ts"
import { printCommands } from "./commands/PrintCommands.ts"
import { programCommands, programPath } from "./commands/ProgramCommands.ts"
import { runnerCommands } from "./commands/RunnerCommands.ts"
import { sortCommand } from "./commands/SortCommand.ts"
import { sourceCommands } from "./commands/SourceCommands.ts"
import { systemCommands } from "./commands/SystemCommands.ts"
import { textCommands } from "./commands/TextCommands.ts"
import { timeCommands } from "./commands/TimeCommands.ts"
import { plainly } from "./core/Explanations.ts"
import { STATUS } from "./repairs/ExitStatus.ts"
import { contents, DISK_LIMIT_BYTES, MachineFs, mount, refusalOf, WORKSPACE } from "./core/MachineFs.ts"
import { setCommand, withOwnHelp } from "./core/OwnHelp.ts"
import { rewrite } from "./core/Rewriting.ts"
import type { ShellRun, Timeline } from "./Shell.ts"
import { ShellSession } from "./core/ShellSession.ts"
import { isTraced } from "./core/Tracing.ts"

/** As many as take seconds of host time, so that an endless loop meets this limit and not the host's. */
const MAX_COMMANDS = 100_000
const MiB = 1024 * 1024

/** The exit code of a shell whose last program is not there. */
const NOT_FOUND = 127

/** Commands of the interpreter that ask the host for time and chance, and that no image with CUDA has anyway. */
const ASKING: ReadonlySet<string> = new Set(["sqlite3", "xan"])

const LIMITS = {
  maxCommandCount: MAX_COMMANDS,
  maxLoopIterations: MAX_COMMANDS,
  maxWorkUnits: 10 * MAX_COMMANDS,
  maxExecutionTimeMs: Infinity,
  maxSourceBytes: 1 * MiB,
  maxStringLength: 64 * MiB,
  maxOutputSize: 256 * MiB,
  maxLiveBytes: 256 * MiB,
  maxFileSystemBytes: DISK_LIMIT_BYTES
}

/**
 * `guarded`: the interpreter also guards against flaws of its own, by patching the host's globals while a command runs, at
 * twice the cost of a command. For threads that run what strangers wrote; the timeline is the same either way.
 */
export const execute = async (run: ShellRun, guarded = false): Promise<Timeline> => {
  const ended = new AbortController()
  const session = new ShellSession(run, () => ended.abort())
  const { clock, console } = session
  const fs = new MachineFs(clock, console, () => session.random())
  const commands = (getCommandNames() as Array<CommandName>).filter((name) => !ASKING.has(name))
  const bash = new Bash({
    fs,
    cwd: WORKSPACE,
    defenseInDepth: guarded,
    env: { ...session.environment },
    executionLimits: LIMITS,
    commands,
    processInfo: { pid: SHELL, ppid: 1, uid: 0, gid: 0 },
    customCommands: withOwnHelp(
      [
        setCommand,
        ...timeCommands(session),
        ...jobCommands(session),
        ...sourceCommands(session),
        ...systemCommands(session),
        ...textCommands(session),
        ...printCommands(session),
        ...gpuCommands(session),
        ...byteCommands(session),
        ...dateCommands(session),
        listCommand(session),
        sortCommand(session),
        ...runnerCommands(session),
        ...dumpCommands,
        ...fileCommands,
        ...placeCommands(session),
        ...findCommands(session),
        ...filterCommands(session),
        ...programCommands(session)
      ],
      commands
    )
  })
  for (const [name, text] of Object.entries(run.programs ?? {})) fs.writeFileSync(programPath(name), text)
  fs.booted()
  await mount(fs, run.files)
  let functions: string | undefined
  bash.registerTransformPlugin({
    name: "machine",
    transform: ({ ast }) => {
      const mode = session.nextScript
      session.nextScript = "captured"
      console.traced ||= isTraced(ast)
      const sources = rewrite(ast, mode, session, functions === undefined ? "first" : "other")
      functions ??= sources
      return { ast }
    }
  })
  const { result: code, met } = await clock.within(run.untilMs, async (deadline) => {
    const signal = AbortSignal.any([deadline, ended.signal])
    const first = await bash.exec(readable(run.command), { rawScript: true, signal }).catch(refused)
    flush(session, first)
    const { exitHandler, killed } = session
    const code = killed ?? first.exitCode
    if (exitHandler === "" || killed === 137 || (signal.aborted && killed === undefined)) return code
    // After an `exit` the interpreter has forgotten the variables, `$?` among them.
    const env = "?" in first.env ? first.env : session.exitVariables
    session.nextScript = "streamed"
    // Only an `exit` of the handler's own keeps it from the last line.
    const source = `${functions ?? ""}\n(exit ${code})\n${exitHandler}\n${STATUS} ${code}`
    const last = await bash
      .exec(source, {
        env,
        cwd: env["PWD"] ?? WORKSPACE,
        signal: killed === undefined ? signal : deadline
      })
      .catch(refused)
    flush(session, last)
    return last.exitCode
  })
  const endedAt = clock.now
  if (!met && code !== 0) {
    const { explanations } = console
    // Its name may have been told to a file alone.
    const isLacking = code === NOT_FOUND && !session.hasWindowsLines
    console.write(endedAt, isLacking ? explanations.lacking() : "", "text")
    console.write(endedAt, session.hasWindowsLines ? explanations.windowsLines() : "", "text")
  }
  return {
    chunks: console.chunks(endedAt, (job) => session.endOf(job)),
    exit: met ? null : { at: endedAt, code: console.full ? 137 : code },
    files: run.keepFiles ? await contents(fs) : [],
    overran: false
  }
}

/** A redirection that the disk refuses ends the script where `Redirections.ts` did not foresee it. */
const refused = (error: unknown) => {
  const message = refusalOf(error)
  if (message === undefined) throw error
  return { stdout: "", stderr: `bash: ${message}\n`, exitCode: 1, env: {} as Record<string, string> }
}

/** What was not written while it ran: a script that redirects itself, a syntax error, the end of a limit. */
const flush = (session: ShellSession, result: { stdout: string; stderr: string }): void => {
  const { clock, console } = session
  console.write(clock.now, result.stdout, "text")
  console.write(clock.now, plainly(result.stderr.replace(ABORTED, "")), "text")
}

const ABORTED = /^bash: (?:\S+ )?(?:execution )?aborted\n/gm
