/** The programs of the run's world as commands, and files that name the program which reads them in their first line. */
import { defineCommand } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { child } from "../core/Children.ts"
import { fail } from "../core/ShellSession.ts"
import type { CommandResult, ShellSession } from "../core/ShellSession.ts"
import { MARK } from "../core/Syntax.ts"

/** Where the text of a program is; its command is found in `/usr/bin` like all others. */
export const programPath = (name: string): string => `/usr/local/bin/${name}`

export const programCommands = (session: ShellSession): ReadonlyArray<Command> =>
  [...session.programs].map((name) =>
    defineCommand(name, async (all, context) => {
      const onConsole = all[0] === MARK
      session.nextScript = onConsole ? "streamed" : "captured"
      return child(session, context, programPath(name), onConsole ? all.slice(1) : all)
    })
  )

/** `#!/usr/bin/env python`, `#!/usr/bin/awk -f`: by which program, with which argument. */
const INTERPRETER = /^#![ \t]*(\/\S+)(?:[ \t]+(.*?))?[ \t]*(?:\n|$)/
const SHELLS: ReadonlySet<string> = new Set(["bash", "sh", "dash", "ash"])

/**
 * What a file comes to that names another interpreter than a shell; undefined: it names none. `shown`: the path that it
 * was called by.
 */
export const interpreted = async (
  path: string,
  [shown = "", ...args]: ReadonlyArray<string>,
  onConsole: boolean,
  session: ShellSession,
  context: ResolvedCommandContext
): Promise<CommandResult | undefined> => {
  const head = await context.fs.readFile(path).catch(() => "")
  const returned = /^#!(.*)\r\n/
    .exec(head)?.[1]
    ?.trim()
    .split(/[ \t]+/)
  if (returned !== undefined) {
    session.hasWindowsLines = true
    return returned[0]?.endsWith("/env") === true && returned.length > 1
      ? fail(`/usr/bin/env: '${returned.at(-1)}\\r': No such file or directory`, 127)
      : fail(`bash: ${shown}: cannot execute: required file not found`, 127)
  }
  const [, program, rest = ""] = INTERPRETER.exec(head.slice(0, 256)) ?? []
  if (program === undefined) return undefined
  const isEnv = program.endsWith("/env")
  const words = rest.split(/[ \t]+/).filter((word) => word !== "" && !(isEnv && word === "-S"))
  const name = (isEnv ? words.shift() : program.slice(program.lastIndexOf("/") + 1)) ?? ""
  if (SHELLS.has(name)) return undefined
  const isThere = session.programs.has(name) || (await context.fs.exists(`/usr/bin/${name}`))
  if (!isThere) {
    return isEnv
      ? fail(`/usr/bin/env: '${name}': No such file or directory`, 127)
      : fail(`bash: ${shown}: ${program}: bad interpreter: No such file or directory`, 127)
  }
  session.nextScript = onConsole ? "streamed" : "captured"
  return child(session, context, name, [...words, shown, ...args])
}
