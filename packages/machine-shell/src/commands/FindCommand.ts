/**
 * find, which asks how old a file is by the machine's clock: the interpreter's own one would ask the host's. It can tell
 * what is newer than another file, so a file of each moment is there while it runs. And it puts a file's name only where
 * `{}` is all of a word, not in `-exec sh -c 'gzip {}' \;`.
 */
import { defineCommand } from "just-bash"
import type { Command } from "just-bash"
import { momentOf } from "./Moments.ts"
import { fail, ok } from "../core/ShellSession.ts"
import type { ShellSession } from "../core/ShellSession.ts"
import { MARK } from "../core/Syntax.ts"
import { runChild } from "../core/Children.ts"

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const AGE = /^-[acm](time|min)$/

/** Runs a command for the file that is the first argument. */
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
        const moment = momentOf(value, now)
        if (moment === undefined) return fail(`find: I cannot figure out how to interpret '${value}' as a date or time`)
        at++
        args.push(...newerThan(moment.at))
      } else if (arg === "-exec" || arg === "-execdir") {
        const end = all.indexOf(";", at)
        const isWithin = all.slice(at, end).some((one) => one.includes("{}") && one !== "{}")
        args.push(...(end > at && isWithin ? [arg, EACH, "{}"] : [arg]))
      } else args.push(arg)
    }
    // One that ends with the first file it tells of needs not end early.
    const once = args.at(-1) === "-quit"
    if (once) args.pop()
    for (const moment of moments) {
      await context.fs.writeFile(pathOf(moment), "")
      await context.fs.utimes(pathOf(moment), new Date(moment), new Date(moment))
    }
    try {
      const result = await context.origCommand!(args)
      if (!once) return result
      return { ...ok(/^[^\n]*\n?/.exec(result.stdout)![0]), stderr: result.stderr, exitCode: result.exitCode }
    } finally {
      for (const moment of moments) await context.fs.rm(pathOf(moment))
    }
  })
]

const pathOf = (moment: number): string => `/proc/self/fd/.${moment}`

/** What `+n` is older than, `-n` younger, and `n` not younger: days count when they are over, minutes when they begin. */
const agesOf = (unit: string, count: number): ReadonlyArray<number> =>
  unit === "time"
    ? [(count + 1) * DAY, count * DAY, count * DAY]
    : [count * MINUTE + 1, count * MINUTE, (count - 1) * MINUTE + 1]
