/**
 * A command that another one runs: `timeout`, `nohup`, `xargs`, `find -exec`, a program of the world. It gets the variables
 * that the other was given, also those that stand before its name alone, as in `SEED=1 timeout 60 train`.
 */
import { latin1FromBytes } from "just-bash"
import type { ResolvedCommandContext } from "just-bash"
import type { CommandResult, ShellSession } from "./ShellSession.ts"

export interface ChildOptions {
  /** Whether it reads what the other would read. */
  readonly reads?: boolean
  readonly signal?: AbortSignal
}

/** `name`: as a script names it, unquoted. */
export const child = (
  session: ShellSession,
  context: ResolvedCommandContext,
  name: string,
  args: ReadonlyArray<string>,
  { reads = true, signal = context.signal }: ChildOptions = {}
): Promise<CommandResult> =>
  context.exec!(`${given(session, context)}${quoted(name)}`, {
    cwd: context.cwd,
    env: context.exportedEnv ?? {},
    args: [...args],
    ...(reads ? { stdin: latin1FromBytes(context.stdin), stdinKind: "bytes" as const } : {}),
    ...(signal === undefined ? {} : { signal })
  })

/** Of the interpreter's own doing. */
const OWN: ReadonlySet<string> = new Set(["PWD", "OLDPWD", "SHLVL", "_"])

/** The interpreter sets a script's variables, and exports those alone that stand in front of a command, or did at the start. */
const given = ({ environment }: ShellSession, { exportedEnv = {} }: ResolvedCommandContext): string =>
  Object.entries(exportedEnv)
    .filter(([name, value]) => /^[A-Za-z_]\w*$/.test(name) && !OWN.has(name) && environment[name] !== value)
    .map(([name, value]) => `${name}=${quoted(value)} `)
    .join("")

export const quoted = (text: string): string => (/^[\w./+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
