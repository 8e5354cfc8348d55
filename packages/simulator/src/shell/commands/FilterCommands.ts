/** Filters of the interpreter whose arguments are put as it reads them, where it reads them wrong or not at all. */
import { defineCommand } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { fail } from "../ShellSession.ts"
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

export const filterCommands: ReadonlyArray<Command> = [
  /** `-i.bak` keeps what was there; the original ignores the suffix. */
  tool("sed", { flags: "nErsuz", valued: "efl", attached: "i", long: SED }, async (options, context, args) => {
    const suffix = options.value("i") ?? ""
    if (suffix === "") return context.origCommand!(args)
    for (const name of options.operands.slice(options.has("ef") ? 0 : 1)) {
      const path = context.fs.resolvePath(context.cwd, name)
      if (!(await context.fs.exists(path))) continue
      const at = path.lastIndexOf("/") + 1
      const kept = suffix.includes("*") ? path.slice(0, at) + suffix.replaceAll("*", path.slice(at)) : path + suffix
      await context.fs.writeFile(kept, await bytesOf(context, name), "binary")
    }
    return context.origCommand!([
      ...options.given.flatMap(([letter, value]) => ("ef".includes(letter) ? [`-${letter}`, value] : [`-${letter}`])),
      ...options.operands
    ])
  }),
  defineCommand("jq", (args, context) =>
    context.origCommand!(
      withProgram(args, JQ_VALUES, (program) =>
        // `unique` of the original leaves the order as it was.
        program.replace(/"(?:\\.|[^"\\])*"|(?<![.$\w])unique(?![\w(:])/g, (found) =>
          found === "unique" ? "unique_by(.)" : found
        )
      )
    )
  ),
  defineCommand("awk", (args, context) =>
    context.origCommand!(
      withProgram(args, AWK_VALUES, (program) =>
        program
          // `$2^2` of the original is the field of a power.
          .replace(/"(?:\\.|[^"\\])*"|\$(\d+|[A-Za-z_]\w*)(?=\s*(?:\^|\*\*)(?!=))/g, (found, field?: string) =>
            field === undefined ? found : `(${found})`
          )
          .replace(/\s*>>?\s*"\/dev\/stdout"/g, "")
          // A file name of several parts: the original takes the first one.
          .replace(AWK_FILE, "$1 ($2)")
      )
    )
  ),
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

const AWK_PART = /(?:"(?:\\.|[^"\\])*"|\$\w+|[A-Za-z_]\w*(?!\())/.source
const AWK_FILE = new RegExp(
  `(\\bprintf?\\b[^;{}\\n]*?>>?)\\s*(${AWK_PART}(?:\\s*${AWK_PART})+)(?=\\s*(?:[;}\\n]|$))`,
  "g"
)

/** Options whose values are not the program, by how many they have. */
const JQ_VALUES: Readonly<Record<string, number>> = {
  "--arg": 2,
  "--argjson": 2,
  "--slurpfile": 2,
  "--rawfile": 2,
  "--indent": 1,
  "-L": 1
}
const AWK_VALUES: Readonly<Record<string, number>> = { "-F": 1, "-v": 1, "-f": 1 }

/** The first argument that is no option is the program. */
const withProgram = (
  args: ReadonlyArray<string>,
  values: Readonly<Record<string, number>>,
  change: (program: string) => string
): Array<string> => {
  let at = 0
  while (at < args.length && /^-./.test(args[at]!)) {
    const skipped = values[args[at]!] ?? 0
    at += 1 + skipped
  }
  return args.map((arg, index) => (index === at ? change(arg) : arg))
}
