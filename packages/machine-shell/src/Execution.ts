/**
 * Runs one command in a simulated bash, ahead of time: takes a `ShellRun`, returns a `Timeline`. The run reaches no
 * file, process, network, clock or random source of the host. Commands, output, disk and recursion are bounded; a run
 * that exceeds a bound ends at the same point each time.
 */
import { Bash, getCommandNames } from "just-bash"
import type { CommandName } from "just-bash"
import { rewriteForParser } from "./repairs/Arithmetic.ts"
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
import { rewriteHints } from "./core/Explanations.ts"
import { STATUS } from "./repairs/ExitStatus.ts"
import { readWorkspace, MAX_DISK_BYTES, MachineFs, mount, refusalOf, WORKSPACE } from "./core/MachineFs.ts"
import { setCommand, withOwnHelp } from "./core/OwnHelp.ts"
import { rewrite } from "./core/Rewriting.ts"
import type { ShellRun, Timeline } from "./Shell.ts"
import { ShellSession } from "./core/ShellSession.ts"
import { isTraced } from "./core/Tracing.ts"

/**
 * Bounds the commands and the loop iterations of a run. So many take seconds of host time: an endless loop meets this
 * limit before the host's. A lower limit would end long scripts.
 */
const MAX_COMMANDS = 100_000
const MiB = 1024 * 1024

/** The exit code of a shell whose last command was not found. */
const NOT_FOUND = 127

/** Commands of the interpreter that read the host's time or randomness. No usual CUDA image has them. */
const HOST_DEPENDENT: ReadonlySet<string> = new Set(["sqlite3", "xan"])

const LIMITS = {
  maxCommandCount: MAX_COMMANDS,
  maxLoopIterations: MAX_COMMANDS,
  maxWorkUnits: 10 * MAX_COMMANDS,
  maxExecutionTimeMs: Infinity,
  maxSourceBytes: 1 * MiB,
  maxStringLength: 64 * MiB,
  maxOutputSize: 256 * MiB,
  maxLiveBytes: 256 * MiB,
  maxFileSystemBytes: MAX_DISK_BYTES
}

/**
 * Returns the timeline of a run. With `isGuarded` the interpreter also patches the host's globals while a command runs,
 * as a defence against flaws of its own; each command then costs twice as much. It is for threads that run untrusted
 * commands. The timeline is the same either way.
 */
export const execute = async (run: ShellRun, isGuarded = false): Promise<Timeline> => {
  const ended = new AbortController()
  const session = new ShellSession(run, () => ended.abort())
  const { clock, console } = session
  const fs = new MachineFs(clock, console, () => session.random())
  const commands = (getCommandNames() as Array<CommandName>).filter((name) => !HOST_DEPENDENT.has(name))
  const bash = new Bash({
    fs,
    cwd: WORKSPACE,
    defenseInDepth: isGuarded,
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
  fs.finishBoot()
  await mount(fs, run.files)
  let functions: string | undefined
  bash.registerTransformPlugin({
    name: "machine",
    transform: ({ ast }) => {
      const mode = session.nextScript
      session.nextScript = "captured"
      console.isTraced ||= isTraced(ast)
      const sources = rewrite(ast, mode, session, functions === undefined ? "first" : "other")
      functions ??= sources
      return { ast }
    }
  })
  const { result: code, isMet } = await clock.runUntil(run.untilMs, async (deadline) => {
    const signal = AbortSignal.any([deadline, ended.signal])
    const first = await bash.exec(rewriteForParser(run.command), { rawScript: true, signal }).catch(recoverRefusal)
    flush(session, first)
    const { exitHandler, killCode } = session
    const code = killCode ?? first.exitCode
    if (exitHandler === "" || killCode === 137 || (signal.aborted && killCode === undefined)) return code
    // The interpreter drops the variables at an `exit`, `$?` among them. They were saved before it.
    const env = "?" in first.env ? first.env : session.exitVariables
    session.nextScript = "streamed"
    // The last line restores the exit code. Only an `exit` of the handler itself ends the script before that line.
    const source = `${functions ?? ""}\n(exit ${code})\n${exitHandler}\n${STATUS} ${code}`
    const last = await bash
      .exec(source, {
        env,
        cwd: env["PWD"] ?? WORKSPACE,
        signal: killCode === undefined ? signal : deadline
      })
      .catch(recoverRefusal)
    flush(session, last)
    return last.exitCode
  })
  const endedAt = clock.now
  if (!isMet && code !== 0) {
    const { explanations } = console
    // The shell may have reported the missing program only into a file.
    const isProgramMissing = code === NOT_FOUND && !session.hasWindowsLines
    console.write(endedAt, isProgramMissing ? explanations.lacking() : "", "text")
    console.write(endedAt, session.hasWindowsLines ? explanations.windowsLines() : "", "text")
  }
  return {
    chunks: console.chunks(endedAt, (job) => session.endOf(job)),
    exit: isMet ? null : { at: endedAt, code: console.isFull ? 137 : code },
    files: run.keepFiles ? await readWorkspace(fs) : [],
    overran: false
  }
}

/**
 * Returns the result of a script that ended because the disk refused a redirection. `Redirections.ts` catches most of
 * them earlier, so that only the command fails.
 */
const recoverRefusal = (error: unknown) => {
  const message = refusalOf(error)
  if (message === undefined) throw error
  return { stdout: "", stderr: `bash: ${message}\n`, exitCode: 1, env: {} as Record<string, string> }
}

/** Writes the output that was not streamed: of a script that redirects itself, of a syntax error, of a limit. */
const flush = (session: ShellSession, result: { stdout: string; stderr: string }): void => {
  const { clock, console } = session
  console.write(clock.now, result.stdout, "text")
  console.write(clock.now, rewriteHints(result.stderr.replace(ABORTED, "")), "text")
}

const ABORTED = /^bash: (?:\S+ )?(?:execution )?aborted\n/gm
