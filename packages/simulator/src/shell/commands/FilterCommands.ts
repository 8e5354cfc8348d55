/** Filters of the interpreter whose arguments are put as it reads them, where it reads them wrong or not at all. */
import { defineCommand } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { fail } from "../ShellSession.ts"
import type { ShellSession } from "../ShellSession.ts"
import { awkCommand } from "./AwkCommand.ts"
import { cutCommand } from "./CutCommand.ts"
import { bytesOf, Refusal, tool, withProgram } from "./Options.ts"

const SED = {
  quiet: "n",
  silent: "n",
  "regexp-extended": "E",
  expression: "e",
  file: "f",
  "in-place": "i",
  separate: "s",
  unbuffered: "u",
  "null-data": "z"
}

export const filterCommands = (session: ShellSession): ReadonlyArray<Command> => [
  /** `-i.bak` keeps what was there; the original ignores the suffix, and knows neither `-u` nor that `-i` takes `-s` along. */
  tool("sed", { flags: "nErsuz", valued: "efl", attached: "i", long: SED }, async (options, context) => {
    const suffix = options.value("i") ?? ""
    for (const name of suffix === "" ? [] : options.operands.slice(options.has("ef") ? 0 : 1)) {
      const path = context.fs.resolvePath(context.cwd, name)
      if (!(await context.fs.exists(path))) continue
      const at = path.lastIndexOf("/") + 1
      const kept = suffix.includes("*") ? path.slice(0, at) + suffix.replaceAll("*", path.slice(at)) : path + suffix
      await context.fs.writeFile(kept, await bytesOf(context, name), "binary")
    }
    const meant = options.given.filter(([letter]) => letter !== "u" && !(letter === "s" && options.has("i")))
    return context.origCommand!([
      ...meant.flatMap(([letter, value]) => ("efl".includes(letter) ? [`-${letter}`, value] : [`-${letter}`])),
      ...options.operands
    ])
  }),
  ...["jq", "yq"].map((name) =>
    defineCommand(name, (args, context) =>
      context.origCommand!(
        withProgram(args, JQ_VALUES, (program) =>
          program.replace(
            /"(?:\\.|[^"\\])*(?:"|$)|(?<![.$\w])(?:unique|now)(?![\w(:])|@csv(?!\s*")/g,
            // The original would ask the host for the time.
            (found) => (found === "now" ? `(${session.clock.now / 1000})` : (JQ[found] ?? found))
          )
        )
      )
    )
  ),
  awkCommand(session),
  defineCommand("grep", (args, context) => {
    const has = (option: RegExp) => args.some((arg) => option.test(arg))
    if (has(/^-\w*F|^--fixed-strings$/)) return context.origCommand!(args)
    const extended = has(/^-\w*[EP]|^--(extended|perl)-regexp$/)
    const onlyMatching = has(/^-\w*o|^--only-matching$/)
    return context.origCommand!(
      args.map((arg) => {
        const pattern = onlyMatching ? atLeastOne(arg, extended) : arg
        return extended ? pattern : pattern.replace(/\\[^]/g, (found) => BASIC[found] ?? found)
      })
    )
  }),
  cutCommand,
  defineCommand("uniq", async (args, context) => {
    const result = await context.origCommand!(args)
    if (!args.some((arg) => /^-\w*c|^--count$/.test(arg))) return result
    return { ...result, stdout: result.stdout.replace(/^ *(\d+) /gm, (_, count: string) => `${count.padStart(7)} `) }
  }),
  defineCommand("tr", (args, context) =>
    context.origCommand!(
      args.map((arg) =>
        arg.replace(/\\(\\|[0-7]{1,3})/g, (_, code: string) =>
          code === "\\" || code === "134" ? "\\\\" : String.fromCharCode(parseInt(code, 8) & 255)
        )
      )
    )
  ),
  tool("paste", { flags: "sz", valued: "d", long: { serial: "s", delimiters: "d" } }, async (options, context) => {
    if (options.has("z")) throw new Refusal("-z is not simulated")
    const delimiters = (options.value("d") ?? "\t").replace(
      /\\([nt\\])/g,
      (_, one: string) => ({ n: "\n", t: "\t" })[one] ?? one
    )
    const operands = options.operands.length === 0 ? ["-"] : options.operands
    return context.origCommand!([...(options.has("s") ? ["-s"] : []), "-d", delimiters, ...operands])
  }),
  defineCommand("seq", async (args, context) => {
    const numbers: Array<string> = []
    let format: string | undefined
    let separator = "\n"
    for (let i = 0; i < args.length; i++) {
      const [, letter, long, value = ""] = /^(?:-([fs])|--(format|separator)=)(.*)$/s.exec(args[i]!) ?? []
      const name = letter ?? long?.[0]
      if (name === undefined) numbers.push(args[i] === "--equal-width" ? "-w" : args[i]!)
      else {
        const given = letter !== undefined && value === "" ? (args[++i] ?? "") : value
        if (name === "f") format = given
        else separator = given
      }
    }
    if (format === undefined) return context.origCommand!(["-s", separator, ...numbers])
    if (!SEQ_FORMAT.test(format)) return fail(`seq: format '${format}' has unknown directive`)
    const plain = await context.origCommand!(numbers)
    if (plain.exitCode !== 0 || plain.stdout === "") return plain
    const shown = await formatted(context, format, plain.stdout.split("\n").slice(0, -1))
    return { ...shown, stdout: `${shown.stdout.slice(0, -1).split("\n").join(separator)}\n` }
  })
]

/** What GNU's basic patterns have and the original's lack. */
const BASIC: Readonly<Record<string, string>> = { "\\+": "\\{1,\\}", "\\?": "\\{0,1\\}" }

/** `[0-9]*` where only what matches is told: what matches nothing ends the original, and is not told anyway. */
const atLeastOne = (pattern: string, extended: boolean): string =>
  /^(?:\[\^?\]?[^\]]*\]|\.|\\[wWsSdD]|[^-\\[\].*^$(){}|+?])\*$/.test(pattern)
    ? `${pattern.slice(0, -1)}${extended ? "+" : "\\+"}`
    : pattern

const SEQ_FORMAT = /^(?:[^%]|%%)*%[-+ #0]*\d*(?:\.\d+)?[aefgAEFG](?:[^%]|%%)*$/

const formatted = (context: ResolvedCommandContext, format: string, numbers: ReadonlyArray<string>) =>
  context.exec!("printf", { cwd: context.cwd, args: [`${format}\n`, ...numbers] })

/** What the original does otherwise: `unique` leaves the order as it was, `@csv` puts no text in quotes. */
const JQ: Readonly<Record<string, string>> = {
  unique: "unique_by(.)",
  "@csv": `(map(if type == "string" then "\\"" + gsub("\\""; "\\"\\"") + "\\"" elif . == null then "" else tostring end) | join(","))`
}

/** Options of jq whose values are not the program, by how many they have. */
const JQ_VALUES: Readonly<Record<string, number>> = {
  "--arg": 2,
  "--argjson": 2,
  "--slurpfile": 2,
  "--rawfile": 2,
  "--indent": 1,
  "-L": 1
}
