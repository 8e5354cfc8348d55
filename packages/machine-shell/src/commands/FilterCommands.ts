/** Filters of the interpreter. Rewrites their arguments where the interpreter reads them wrong or not at all. */
import { defineCommand } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { fail } from "../core/ShellSession.ts"
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
    if (format === undefined) return context.origCommand!(["-s", separator, ...numbers])
    if (!SEQ_FORMAT.test(format)) return fail(`seq: format '${format}' has unknown directive`)
    const plain = await context.origCommand!(numbers)
    if (plain.exitCode !== 0 || plain.stdout === "") return plain
    const shown = await printFormatted(context, format, plain.stdout.split("\n").slice(0, -1))
    return { ...shown, stdout: `${shown.stdout.slice(0, -1).split("\n").join(separator)}\n` }
  })
]

const SEQ_FORMAT = /^(?:[^%]|%%)*%[-+ #0]*\d*(?:\.\d+)?[aefgAEFG](?:[^%]|%%)*$/

const printFormatted = (context: ResolvedCommandContext, format: string, numbers: ReadonlyArray<string>) =>
  context.exec!("printf", { cwd: context.cwd, args: [`${format}\n`, ...numbers] })
