/** Filters of the interpreter. Rewrites their arguments where the interpreter reads them wrong or not at all. */
import { defineCommand } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { fail, ok } from "../core/ShellSession.ts"
import type { ShellSession } from "../core/ShellSession.ts"
import { awkCommand } from "./AwkCommand.ts"
import { grepCommand } from "./GrepCommand.ts"
import { countCommand } from "./CountCommand.ts"
import { cutCommand } from "./CutCommand.ts"
import { jsonCommands } from "./JsonCommands.ts"
import { Refusal, tool } from "./Options.ts"
import { sedCommand } from "./SedCommand.ts"

export const filterCommands = (session: ShellSession): ReadonlyArray<Command> => [
  sedCommand,
  ...jsonCommands(session),
  awkCommand(session),
  grepCommand,
  countCommand,
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
    if (format === undefined)
      return longSequence(numbers, separator) ?? context.origCommand!(["-s", separator, ...numbers])
    if (!SEQ_FORMAT.test(format)) return fail(`seq: format '${format}' has unknown directive`)
    const plain = await context.origCommand!(numbers)
    if (plain.exitCode !== 0 || plain.stdout === "") return plain
    const shown = await printFormatted(context, format, plain.stdout.split("\n").slice(0, -1))
    return { ...shown, stdout: `${shown.stdout.slice(0, -1).split("\n").join(separator)}\n` }
  })
]

/** The original ends at so many. */
const ORIGINAL_LINES = 100_000
/** Characters: what the interpreter takes as one text. */
const MAX_TEXT = 64 * 1024 * 1024

/** Integers that are more than the original writes; undefined: it is the original's. */
const longSequence = (numbers: ReadonlyArray<string>, separator: string) => {
  if (numbers.length === 0 || numbers.length > 3 || !numbers.every((one) => /^-?\d{1,15}$/.test(one))) return undefined
  const values = numbers.map(Number)
  const [first, step, last] = [values.length > 1 ? values[0]! : 1, values.length > 2 ? values[1]! : 1, values.at(-1)!]
  const count = step === 0 ? 0 : Math.floor((last - first) / step) + 1
  if (count <= ORIGINAL_LINES) return undefined
  const width = Math.max(String(first).length, String(last).length) + separator.length
  if (count * width > MAX_TEXT) return fail(`seq: simulated machine: limit of ${MAX_TEXT} bytes`)
  const parts: Array<string> = []
  for (let at = 0; at < count; at += ORIGINAL_LINES) {
    const length = Math.min(ORIGINAL_LINES, count - at)
    parts.push(Array.from({ length }, (_, i) => first + (at + i) * step).join(separator))
  }
  return ok(`${parts.join(separator)}\n`)
}

const SEQ_FORMAT = /^(?:[^%]|%%)*%[-+ #0]*\d*(?:\.\d+)?[aefgAEFG](?:[^%]|%%)*$/

const printFormatted = (context: ResolvedCommandContext, format: string, numbers: ReadonlyArray<string>) =>
  context.exec!("printf", { cwd: context.cwd, args: [`${format}\n`, ...numbers] })
