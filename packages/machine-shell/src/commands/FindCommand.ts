/**
 * find, with ages by the machine's clock: the interpreter's own find would read the host's. That find can compare a
 * file with another one, so a file of each moment exists while it runs. It also replaces `{}` only where it is a whole
 * word, not in `-exec sh -c 'gzip {}' \;`, so this module replaces it there.
 */
import { defineCommand } from "just-bash"
import type { Command } from "just-bash"
import { parseMoment } from "./Moments.ts"
import { fail, ok } from "../core/ShellSession.ts"
import type { ShellSession } from "../core/ShellSession.ts"
import { MARK } from "../core/Syntax.ts"
import { runChild } from "../core/Children.ts"

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const AGE = /^-[acm](time|min)$/

/** The command that runs a command for the file of its first argument. */
const EACH = `${MARK}each`

export const findCommands = (session: ShellSession): ReadonlyArray<Command> => [
  defineCommand(EACH, ([file = "", name = "", ...args], context) =>
    runChild(
      session,
      context,
      name,
      args.map((arg) => arg.replaceAll("{}", () => file)),
      { hasStdin: false }
    )
  ),
  defineCommand("find", async (all, context) => {
    const { now } = session.clock
    const moments = new Set<number>()
    const newerThan = (moment: number): ReadonlyArray<string> => {
      moments.add(moment)
      return ["-newer", pathOf(moment)]
    }
    const args: Array<string> = []
    for (let at = 0; at < all.length; at++) {
      const arg = all[at]!
      const [, unit] = AGE.exec(arg) ?? []
      const value = all[at + 1] ?? ""
      if (unit !== undefined) {
        const [, sign, count] = /^([-+]?)(\d{1,9})$/.exec(value) ?? []
        if (count === undefined) return fail(`find: invalid argument '${value}' to '${arg}'`)
        at++
        const [older, younger, same] = agesOf(unit, Number(count)).map((age) => newerThan(now - age))
        args.push(...(sign === "+" ? ["!", ...older!] : sign === "-" ? younger! : ["(", ...older!, "!", ...same!, ")"]))
      } else if (arg === "-newermt") {
        const moment = parseMoment(value, now)
        if (moment === undefined) return fail(`find: I cannot figure out how to interpret '${value}' as a date or time`)
        at++
        args.push(...newerThan(moment.at))
      } else if (arg === "-exec" || arg === "-execdir") {
        const end = all.indexOf(";", at)
        const isPartOfWord = all.slice(at, end).some((one) => one.includes("{}") && one !== "{}")
        args.push(...(end > at && isPartOfWord ? [arg, EACH, "{}"] : [arg]))
      } else args.push(arg)
    }
    // A final `-quit` ends find behind the first file that it prints. The output is cut to that file instead.
    const isQuitting = args.at(-1) === "-quit"
    if (isQuitting) args.pop()
    for (const moment of moments) {
      await context.fs.writeFile(pathOf(moment), "")
      await context.fs.utimes(pathOf(moment), new Date(moment), new Date(moment))
    }
    try {
      const result = await context.origCommand!(args)
      if (!isQuitting) return result
      return { ...ok(/^[^\n]*\n?/.exec(result.stdout)![0]), stderr: result.stderr, exitCode: result.exitCode }
    } finally {
      for (const moment of moments) await context.fs.rm(pathOf(moment))
    }
  })
]

const pathOf = (moment: number): string => `/proc/self/fd/.${moment}`

/**
 * Returns three ages in milliseconds: a file of `+n` has at least the first one, a file of `-n` less than the second
 * one, a file of `n` less than the first and at least the third one. Days count when they are over, minutes when they
 * begin.
 */
const agesOf = (unit: string, count: number): ReadonlyArray<number> =>
  unit === "time"
    ? [(count + 1) * DAY, count * DAY, count * DAY]
    : [count * MINUTE + 1, count * MINUTE, (count - 1) * MINUTE + 1]
