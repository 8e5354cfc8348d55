/**
 * `date` and `touch` at the machine's time, or at a time that is spelled out. The originals know only the host's time.
 */
import type { Command, ResolvedCommandContext } from "just-bash"
import { parseMoment } from "./Moments.ts"
import { ok } from "../core/ShellSession.ts"
import type { ShellSession } from "../core/ShellSession.ts"
import { MARK } from "../core/Syntax.ts"
import { Refusal, tool } from "./Options.ts"

const DATE = {
  date: "d",
  utc: "u",
  universal: "u",
  reference: "r",
  "iso-8601": "I",
  "rfc-3339": "3",
  "rfc-email": "R"
}
const STAMPS: Readonly<Record<string, string>> = {
  I: "+%Y-%m-%d",
  Idate: "+%Y-%m-%d",
  Ihours: "+%Y-%m-%dT%H%:z",
  Iminutes: "+%Y-%m-%dT%H:%M%:z",
  Iseconds: "+%Y-%m-%dT%H:%M:%S%:z",
  Ins: "+%Y-%m-%dT%H:%M:%S,%N%:z",
  "3date": "+%Y-%m-%d",
  "3seconds": "+%Y-%m-%d %H:%M:%S%:z",
  "3ns": "+%Y-%m-%d %H:%M:%S.%N%:z",
  R: "+%a, %d %b %Y %H:%M:%S %z"
}

export const dateCommands = (session: ShellSession): ReadonlyArray<Command> => [
  tool("date", { flags: "uR", valued: "dr3", attached: "I", long: DATE }, async (options, context) => {
    const [format, surplus] = options.operands
    if (surplus !== undefined) throw new Refusal(`extra operand '${surplus}'`)
    if (format !== undefined && !format.startsWith("+")) throw new Refusal(`invalid date '${format}'`)
    const reference = options.value("r")
    const text = options.value("d")
    const moment =
      reference !== undefined
        ? { at: await modifiedAt(context, reference), hasZone: true }
        : text === undefined
          ? { at: session.clock.now, hasZone: true }
          : parseMoment(text, session.clock.now)
    if (moment === undefined) throw new Refusal(`invalid date '${text}'`)
    const [letter, value] = options.given.find(([one]) => "I3R".includes(one)) ?? []
    const name = Object.keys(STAMPS).find(
      (one) => one === `${letter}${value}` || (value !== "" && one.startsWith(`${letter}${value}`))
    )
    const stamp = name === undefined ? undefined : STAMPS[name]
    if (letter !== undefined && stamp === undefined) throw new Refusal(`invalid argument '${value}'`)
    const seconds = Math.floor(moment.at / 1000)
    const nanos = `${String(moment.at - seconds * 1000).padStart(3, "0")}000000`
    const shown = (format ?? stamp ?? "+%a %b %e %H:%M:%S %Z %Y")
      .replace(/%(\d?)N/g, (_, digits: string) => nanos.slice(0, digits === "" ? 9 : Number(digits)))
      .replaceAll("%:z", `${MARK}%z`)
    // A moment without a zone is in the zone `TZ`, which the original knows.
    const dateArgument = moment.hasZone ? `@${seconds}` : new Date(seconds * 1000).toISOString().slice(0, 19)
    const result = await context.origCommand!([...(options.has("u") ? ["-u"] : []), "-d", dateArgument, shown])
    return { ...result, stdout: result.stdout.replace(COLONLESS, "$1:$2") }
  }),
  tool(
    "touch",
    { flags: "acmh", valued: "dtr", long: { date: "d", reference: "r", "no-create": "c", "no-dereference": "h" } },
    async (options, context) => {
      const { now } = session.clock
      const text = options.value("d") ?? stampOf(options.value("t"), now)
      const reference = options.value("r")
      const at =
        reference !== undefined
          ? await modifiedAt(context, reference)
          : text === undefined
            ? now
            : parseMoment(text, now)?.at
      if (at === undefined) throw new Refusal(`invalid date format '${options.value("d") ?? options.value("t")}'`)
      if (options.operands.length === 0) throw new Refusal("missing file operand")
      let errors = ""
      for (const name of options.operands) {
        const path = context.fs.resolvePath(context.cwd, name)
        if (!(await context.fs.exists(path))) {
          if (options.has("c")) continue
          if (!(await context.fs.exists(path.slice(0, path.lastIndexOf("/")) || "/"))) {
            errors += `touch: cannot touch '${name}': No such file or directory\n`
            continue
          }
          await context.fs.writeFile(path, "")
        }
        await context.fs.utimes(path, new Date(at), new Date(at))
      }
      return { ...ok(), stderr: errors, exitCode: errors === "" ? 0 : 1 }
    }
  )
]

/** The original has no `%:z`, so the colon goes into the digits of its `%z`. */
const COLONLESS = new RegExp(`${MARK}([-+]\\d\\d)(\\d\\d)`, "g")

const modifiedAt = async (context: ResolvedCommandContext, name: string): Promise<number> => {
  const stat = await context.fs.stat(context.fs.resolvePath(context.cwd, name)).catch(() => undefined)
  if (stat === undefined) throw new Refusal(`${name}: No such file or directory`)
  return stat.mtime.getTime()
}

/** Returns `[[CC]YY]MMDDhhmm[.ss]` as a text for `parseMoment`; any other text as it is. */
const stampOf = (text: string | undefined, now: number): string | undefined => {
  if (text === undefined) return undefined
  const found = /^(\d\d)?(\d\d)?(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d\d))?$/.exec(text)
  if (found === null) return text
  const [, century, short, month, day, hour, minute, second = "00"] = found
  const years = short ?? century
  const year =
    years === undefined
      ? new Date(now).getUTCFullYear()
      : `${short === undefined ? (Number(years) < 69 ? 20 : 19) : century}${years}`
  return `${year}-${month}-${day} ${hour}:${minute}:${second} UTC`
}
