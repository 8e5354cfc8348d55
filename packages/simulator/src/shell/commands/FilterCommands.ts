/** Filters of the interpreter whose arguments are put as it reads them, where it reads them wrong or not at all. */
import { defineCommand } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { fail } from "../ShellSession.ts"
import type { ShellSession } from "../ShellSession.ts"
import { awkCommand } from "./AwkCommand.ts"
import { grepCommand } from "./GrepCommand.ts"
import { countCommand } from "./CountCommand.ts"
import { cutCommand } from "./CutCommand.ts"
import { jsonCommands } from "./JsonCommands.ts"
import { bytesOf, Refusal, tool } from "./Options.ts"

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
    const scripts = options.has("ef") ? 0 : 1
    const files: Array<string> = []
    let errors = ""
    for (const name of options.operands.slice(scripts)) {
      const path = context.fs.resolvePath(context.cwd, name)
      if (name !== "-" && !(await context.fs.exists(path))) {
        errors += `sed: can't read ${name}: No such file or directory\n`
        continue
      }
      files.push(name)
      if (suffix === "") continue
      const at = path.lastIndexOf("/") + 1
      const kept = suffix.includes("*") ? path.slice(0, at) + suffix.replaceAll("*", path.slice(at)) : path + suffix
      await context.fs.writeFile(kept, await bytesOf(context, name), "binary")
    }
    const meant = options.given.filter(([letter]) => letter !== "u" && !(letter === "s" && options.has("i")))
    if (errors !== "" && files.length === 0) return { stdout: "", stderr: errors, exitCode: 2 }
    const result = await context.origCommand!([
      ...meant.flatMap(([letter, value]) => ("efl".includes(letter) ? [`-${letter}`, value] : [`-${letter}`])),
      ...options.operands.slice(0, scripts),
      ...files
    ])
    return errors === "" ? result : { ...result, stderr: errors + result.stderr, exitCode: result.exitCode || 2 }
  }),
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
    const shown = await formatted(context, format, plain.stdout.split("\n").slice(0, -1))
    return { ...shown, stdout: `${shown.stdout.slice(0, -1).split("\n").join(separator)}\n` }
  })
]

const SEQ_FORMAT = /^(?:[^%]|%%)*%[-+ #0]*\d*(?:\.\d+)?[aefgAEFG](?:[^%]|%%)*$/

const formatted = (context: ResolvedCommandContext, format: string, numbers: ReadonlyArray<string>) =>
  context.exec!("printf", { cwd: context.cwd, args: [`${format}\n`, ...numbers] })
