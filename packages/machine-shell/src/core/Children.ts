/**
 * Runs a command for another command: `timeout`, `nohup`, `xargs`, `find -exec`, a program of the world. The child gets
 * the exported variables of its parent, also those of the parent's assignment prefix, as in `SEED=1 timeout 60 train`.
 */
import { latin1FromBytes } from "just-bash"
import type { ResolvedCommandContext } from "just-bash"
import type { CommandResult, ShellSession } from "./ShellSession.ts"

export interface ChildOptions {
  /** True: the child reads the stdin of its parent. */
  readonly hasStdin?: boolean
  readonly signal?: AbortSignal
}

/** Returns the result of the child. `name` is not quoted yet. */
export const runChild = (
  session: ShellSession,
  context: ResolvedCommandContext,
  name: string,
  args: ReadonlyArray<string>,
  { hasStdin = true, signal = context.signal }: ChildOptions = {}
): Promise<CommandResult> =>
  context.exec!(`${prefixOf(session, context)}${quote(name)}`, {
    cwd: context.cwd,
    env: context.exportedEnv ?? {},
    args: [...args],
    ...(hasStdin ? { stdin: latin1FromBytes(context.stdin), stdinKind: "bytes" as const } : {}),
    ...(signal === undefined ? {} : { signal })
  })

/** Variables that the interpreter sets itself. */
const SET_BY_SHELL: ReadonlySet<string> = new Set(["PWD", "OLDPWD", "SHLVL", "_"])

/**
 * Returns exported variables as an assignment prefix. `env` of an execution sets variables without exporting them: the
 * interpreter exports only the variables of a prefix, and those of the environment at its start.
 */
const prefixOf = ({ environment }: ShellSession, { exportedEnv = {} }: ResolvedCommandContext): string =>
  Object.entries(exportedEnv)
    .filter(([name, value]) => /^[A-Za-z_]\w*$/.test(name) && !SET_BY_SHELL.has(name) && environment[name] !== value)
    .map(([name, value]) => `${name}=${quote(value)} `)
    .join("")

export const quote = (text: string): string => (/^[\w./+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
