/** Runs the programs of the run's world as commands, and files whose first line names the program that reads them. */
import { defineCommand } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { runChild } from "../core/Children.ts"
import { fail } from "../core/ShellSession.ts"
import type { CommandResult, ShellSession } from "../core/ShellSession.ts"
import { MARK } from "../core/Syntax.ts"

/** Returns the path of a program's text. Its command is found in `/usr/bin`, like all others. */
export const programPath = (name: string): string => `/usr/local/bin/${name}`

export const programCommands = (session: ShellSession): ReadonlyArray<Command> =>
  [...session.programs].map((name) =>
    defineCommand(name, async (all, context) => {
      const isOnConsole = all[0] === MARK
      session.nextScript = isOnConsole ? "streamed" : "captured"
      return runChild(session, context, programPath(name), isOnConsole ? all.slice(1) : all)
    })
  )

/** Matches `#!/usr/bin/env python` and `#!/usr/bin/awk -f`: the program and its argument. */
const INTERPRETER = /^#![ \t]*(\/\S+)(?:[ \t]+(.*?))?[ \t]*(?:\n|$)/
const SHELLS: ReadonlySet<string> = new Set(["bash", "sh", "dash", "ash"])

/**
 * Runs a file whose first line names an interpreter that is no shell; returns undefined for any other file. `shown`:
 * the path by which the file was called.
 */
export const runInterpreted = async (
  path: string,
  [shown = "", ...args]: ReadonlyArray<string>,
  isOnConsole: boolean,
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
  session.nextScript = isOnConsole ? "streamed" : "captured"
  return runChild(session, context, name, [...words, shown, ...args])
}
