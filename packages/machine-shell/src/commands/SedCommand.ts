/**
 * sed as GNU's. The interpreter's own sed ends a range on the line where it begins, knows no `\U` and no exit code, and
 * reads `2g` as `2`. The `e` command and the `e` flag are not simulated.
 */
import type { ResolvedCommandContext } from "just-bash"
import { fail } from "../core/ShellSession.ts"
import { binary, bytesOf, tool } from "./Options.ts"
import { type SedInput, SedRun } from "./SedRun.ts"
import { parseSedScript } from "./SedScript.ts"

const LONG = {
  quiet: "n",
  silent: "n",
  "regexp-extended": "E",
  expression: "e",
  file: "f",
  "in-place": "i",
  separate: "s",
  unbuffered: "u",
  "null-data": "z",
  "line-length": "l",
  posix: "1"
}

/** Commands of sed that cost one unit of the interpreter's work. A command is little work beside a unit. */
const COMMANDS_PER_UNIT = 16

export const sedCommand = tool(
  "sed",
  { flags: "nErsuz1", valued: "efl", attached: "i", long: LONG },
  async (options, context) => {
    const operands = [...options.operands]
    const scripts: Array<string> = []
    for (const [letter, value] of options.given) {
      if (letter === "e") scripts.push(value)
      if (letter === "f")
        scripts.push(
          Buffer.from(await bytesOf(context, value), "latin1")
            .toString()
            .replace(/\n$/, "")
        )
    }
    if (!options.has("ef")) {
      if (operands.length === 0) return fail("Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...")
      scripts.push(operands.shift()!)
    }
    const [isInPlace, end] = [options.has("i"), options.has("z") ? "\0" : "\n"]
    const isSeparate = isInPlace || options.has("s")
    let [stderr, exitCode] = ["", 0]
    const files: Array<{ readonly name: string; readonly bytes: string }> = []
    for (const name of operands.length === 0 ? ["-"] : operands) {
      const reason = await whyUnreadable(context, name, isInPlace)
      if (reason === undefined) files.push({ name, bytes: await bytesOf(context, name) })
      else [stderr, exitCode] = [`${stderr}sed: ${reason}\n`, Math.max(exitCode, reason.startsWith("couldn't") ? 4 : 2)]
    }
    // Input that is no UTF-8 text is read byte by byte.
    const encoding = files.every(({ bytes }) => isText(bytes)) ? "utf8" : "latin1"
    const decode = (bytes: string) => Buffer.from(bytes, "latin1").toString(encoding)
    const encode = (text: string) => Buffer.from(text, encoding).toString("latin1")
    const source = Buffer.from(scripts.join("\n")).toString(encoding)
    const commands = parseSedScript(source, options.has("Er"))
    const others = new Map<string, string>()
    for (const { name, text } of commands) {
      if (!/^[rR]$/.test(name)) continue
      const bytes = await bytesOf(context, text === "/dev/stdin" ? "-" : text).catch(() => undefined)
      if (bytes !== undefined) others.set(text, decode(bytes))
    }
    const run = new SedRun(commands, {
      quiet: options.has("n") || source.startsWith("#n\n"),
      end,
      read: (file) => others.get(file),
      spend: (count) => context.executionScope?.consumeWork(count / COMMANDS_PER_UNIT, "sed")
    })
    const inputs = files.map(({ bytes, name }) => linesOf(name, decode(bytes), end))
    for (const [at, input] of (isSeparate ? inputs : [concatenate(inputs)]).entries()) {
      run.read(input, isSeparate)
      if (isInPlace) {
        const path = context.fs.resolvePath(context.cwd, input.name)
        const suffix = options.value("i") ?? ""
        if (suffix !== "") await context.fs.writeFile(backupPath(path, suffix), files[at]!.bytes, "binary")
        await context.fs.writeFile(path, encode(run.output.take("")), "binary")
      }
      if (run.exitCode !== undefined) break
    }
    const stdout = encode(run.output.take(""))
    for (const file of run.output.files) {
      const text = encode(run.output.take(file))
      if (file === "/dev/stderr") stderr += text
      else await context.fs.writeFile(context.fs.resolvePath(context.cwd, file), text, "binary")
    }
    return binary(stdout, stderr, run.exitCode ?? exitCode)
  }
)

const isText = (bytes: string): boolean => {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(bytes, "latin1"))
    return true
  } catch {
    return false
  }
}

const whyUnreadable = async ({ cwd, fs }: ResolvedCommandContext, name: string, isInPlace: boolean) => {
  if (name === "-") return undefined
  const stat = await fs.stat(fs.resolvePath(cwd, name)).catch(() => undefined)
  if (stat === undefined) return `can't read ${name}: No such file or directory`
  if (!stat.isDirectory) return undefined
  return isInPlace ? `couldn't edit ${name}: not a regular file` : `read error on ${name}: Is a directory`
}

const linesOf = (name: string, text: string, end: string): SedInput => {
  const lines = text.split(end)
  const hasEnd = lines.at(-1) === ""
  if (hasEnd) lines.pop()
  return { name, lines, hasEnd }
}

const concatenate = (inputs: ReadonlyArray<SedInput>): SedInput => ({
  name: inputs[0]?.name ?? "-",
  lines: inputs.flatMap(({ lines }) => lines),
  hasEnd: inputs.at(-1)?.hasEnd ?? true
})

/** Returns the path of the backup. `*` in a suffix stands for the name itself. */
const backupPath = (path: string, suffix: string): string => {
  const at = path.lastIndexOf("/") + 1
  return suffix.includes("*") ? path.slice(0, at) + suffix.replaceAll("*", path.slice(at)) : path + suffix
}
