/**
 * sed as GNU's has it; the interpreter's own one ends a range on the line that it begins at, knows no `\U` and no exit code,
 * and takes `2g` for `2`. The `e` command, and the flag of it, are not simulated.
 */
import type { ResolvedCommandContext } from "just-bash"
import { fail } from "../core/ShellSession.ts"
import { binary, bytesOf, tool } from "./Options.ts"
import { type SedInput, SedRun } from "./SedRun.ts"
import { sedScript } from "./SedScript.ts"

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

/** A command is little work beside what the interpreter counts as a unit. */
const COMMANDS_OF_A_UNIT = 16

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
    const [inPlace, end] = [options.has("i"), options.has("z") ? "\0" : "\n"]
    const apart = inPlace || options.has("s")
    let [stderr, exitCode] = ["", 0]
    const files: Array<{ readonly name: string; readonly bytes: string }> = []
    for (const name of operands.length === 0 ? ["-"] : operands) {
      const reason = await unreadable(context, name, inPlace)
      if (reason === undefined) files.push({ name, bytes: await bytesOf(context, name) })
      else [stderr, exitCode] = [`${stderr}sed: ${reason}\n`, Math.max(exitCode, reason.startsWith("couldn't") ? 4 : 2)]
    }
    // What is no text is taken byte by byte.
    const encoding = files.every(({ bytes }) => isText(bytes)) ? "utf8" : "latin1"
    const decoded = (bytes: string) => Buffer.from(bytes, "latin1").toString(encoding)
    const encoded = (text: string) => Buffer.from(text, encoding).toString("latin1")
    const source = Buffer.from(scripts.join("\n")).toString(encoding)
    const commands = sedScript(source, options.has("Er"))
    const others = new Map<string, string>()
    for (const { name, text } of commands) {
      if (!/^[rR]$/.test(name)) continue
      const bytes = await bytesOf(context, text === "/dev/stdin" ? "-" : text).catch(() => undefined)
      if (bytes !== undefined) others.set(text, decoded(bytes))
    }
    const run = new SedRun(commands, {
      quiet: options.has("n") || source.startsWith("#n\n"),
      end,
      read: (file) => others.get(file),
      spend: (count) => context.executionScope?.consumeWork(count / COMMANDS_OF_A_UNIT, "sed")
    })
    const inputs = files.map(({ bytes, name }) => linesOf(name, decoded(bytes), end))
    for (const [at, input] of (apart ? inputs : [joined(inputs)]).entries()) {
      run.read(input, apart)
      if (inPlace) {
        const path = context.fs.resolvePath(context.cwd, input.name)
        const suffix = options.value("i") ?? ""
        if (suffix !== "") await context.fs.writeFile(keptAt(path, suffix), files[at]!.bytes, "binary")
        await context.fs.writeFile(path, encoded(run.output.take("")), "binary")
      }
      if (run.exitCode !== undefined) break
    }
    const stdout = encoded(run.output.take(""))
    for (const file of run.output.files) {
      const text = encoded(run.output.take(file))
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

const unreadable = async ({ cwd, fs }: ResolvedCommandContext, name: string, inPlace: boolean) => {
  if (name === "-") return undefined
  const stat = await fs.stat(fs.resolvePath(cwd, name)).catch(() => undefined)
  if (stat === undefined) return `can't read ${name}: No such file or directory`
  if (!stat.isDirectory) return undefined
  return inPlace ? `couldn't edit ${name}: not a regular file` : `read error on ${name}: Is a directory`
}

const linesOf = (name: string, text: string, end: string): SedInput => {
  const lines = text.split(end)
  const ended = lines.at(-1) === ""
  if (ended) lines.pop()
  return { name, lines, ended }
}

const joined = (inputs: ReadonlyArray<SedInput>): SedInput => ({
  name: inputs[0]?.name ?? "-",
  lines: inputs.flatMap(({ lines }) => lines),
  ended: inputs.at(-1)?.ended ?? true
})

/** `*` in a suffix is the name itself. */
const keptAt = (path: string, suffix: string): string => {
  const at = path.lastIndexOf("/") + 1
  return suffix.includes("*") ? path.slice(0, at) + suffix.replaceAll("*", path.slice(at)) : path + suffix
}
