/** Commands that show facts about files: `stat` with every format, `du` in bytes and blocks, `realpath`. */
import { defineCommand } from "just-bash"
import type { Command } from "just-bash"
import { ok } from "../core/ShellSession.ts"
import { kibibytesOf, compare, modeOf, apparentSizeOf, formatSize } from "./FileFacts.ts"
import type { FileStat } from "./FileFacts.ts"
import { Refusal, tool } from "./Options.ts"

const statWithFormat = tool(
  "stat",
  { flags: "L", valued: "cp", long: { format: "c", printf: "p", dereference: "L" } },
  async (options, context) => {
    const [kind, format] = options.given.findLast(([letter]) => letter !== "L") ?? ["c", ""]
    if (options.operands.length === 0) throw new Refusal("missing operand")
    let out = ""
    let errors = ""
    for (const name of options.operands) {
      const path = context.fs.resolvePath(context.cwd, name)
      const stat = await (options.has("L") ? context.fs.stat(path) : context.fs.lstat(path)).catch(() => undefined)
      if (stat === undefined) {
        errors += `stat: cannot statx '${name}': No such file or directory\n`
        continue
      }
      const target = stat.isSymbolicLink ? ` -> '${await context.fs.readlink(path)}'` : ""
      const text = format.replace(
        /%[-#+ 0]*\d*(\w)/g,
        (all, letter: string) => factOf(letter, name, target, stat) ?? all
      )
      out += kind === "c" ? `${text}\n` : text.replace(/\\(.)/g, (all, one: string) => ESCAPES[one] ?? all)
    }
    return { stdout: out, stderr: errors, exitCode: errors === "" ? 0 : 1 }
  }
)

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", "\\": "\\", "0": "\0" }

const factOf = (letter: string, name: string, target: string, stat: FileStat): string | undefined => {
  const seconds = Math.floor(stat.mtime.getTime() / 1000)
  if (letter === "n") return name
  if (letter === "N") return `'${name}'${target}`
  if (letter === "s") return String(apparentSizeOf(stat))
  if (letter === "b") return String(kibibytesOf(stat) * 2)
  if (letter === "B") return "512"
  if (letter === "o") return "4096"
  if (letter === "a") return (stat.isSymbolicLink ? 0o777 : stat.mode & 0o7777).toString(8)
  if (letter === "A") return modeOf(stat)
  if (letter === "f")
    return (stat.mode | (stat.isDirectory ? 0o40000 : stat.isSymbolicLink ? 0o120000 : 0o100000)).toString(16)
  if (letter === "h") return stat.isDirectory ? "2" : "1"
  if ("ug".includes(letter)) return "0"
  if ("UG".includes(letter)) return "root"
  if ("XYZ".includes(letter)) return String(seconds)
  if (letter === "W") return "0"
  if (letter === "w") return "-"
  if ("xyz".includes(letter)) return `${stat.mtime.toISOString().slice(0, 23).replace("T", " ")}000000 +0000`
  if (letter !== "F") return undefined
  return stat.isDirectory
    ? "directory"
    : stat.isSymbolicLink
      ? "symbolic link"
      : stat.size === 0
        ? "regular empty file"
        : "regular file"
}

const DU = {
  all: "a",
  bytes: "b",
  total: "c",
  "human-readable": "h",
  summarize: "s",
  "max-depth": "d",
  "apparent-size": "A",
  "block-size": "B"
}

export const fileCommands: ReadonlyArray<Command> = [
  defineCommand("stat", (args, context) =>
    args.some((arg) => /^(-L?c|--format|--printf)/.test(arg))
      ? statWithFormat.execute(args, context)
      : context.origCommand!(args)
  ),
  tool("du", { flags: "abchskmx", valued: "dB", long: DU }, async (options, context) => {
    const sizeOf = (stat: FileStat) => (options.has("bA") ? apparentSizeOf(stat) : kibibytesOf(stat) * 1024)
    const unit = options.has("b")
      ? 1
      : options.has("m") || /^1?M/.test(options.value("B") ?? "")
        ? 1024 ** 2
        : options.value("B") === "1"
          ? 1
          : 1024
    const shown = (bytes: number) => (options.has("h") ? formatSize(bytes) : String(Math.ceil(bytes / unit)))
    const deepest = options.has("s") ? 0 : Number(options.value("d") ?? Infinity)
    let out = ""
    let errors = ""
    let total = 0
    const measure = async (name: string, path: string, depth: number): Promise<number> => {
      const stat = await context.fs.lstat(path)
      let size = sizeOf(stat)
      if (stat.isDirectory) {
        const inside = (await context.fs.readdir(path)).toSorted(compare)
        context.executionScope?.consumeWork(inside.length, "du")
        for (const one of inside)
          size += await measure(`${name === "/" ? "" : name}/${one}`, `${path}/${one}`, depth + 1)
      }
      if (depth <= deepest && (stat.isDirectory || depth === 0 || options.has("a"))) out += `${shown(size)}\t${name}\n`
      return size
    }
    for (const name of options.operands.length === 0 ? ["."] : options.operands) {
      const path = context.fs.resolvePath(context.cwd, name)
      if (await context.fs.exists(path)) total += await measure(name, path, 0)
      else errors += `du: cannot access '${name}': No such file or directory\n`
    }
    if (options.has("c")) out += `${shown(total)}\ttotal\n`
    return { stdout: out, stderr: errors, exitCode: errors === "" ? 0 : 1 }
  }),
  tool(
    "realpath",
    {
      flags: "emsqz",
      valued: "r",
      long: { "canonicalize-existing": "e", "canonicalize-missing": "m", "no-symlinks": "s", "relative-to": "r" }
    },
    async (options, context) => {
      if (options.operands.length === 0) throw new Refusal("missing operand")
      const resolve = async (name: string): Promise<string> => {
        const path = context.fs.resolvePath(context.cwd, name)
        if (options.has("s")) return path
        const found = await context.fs.realpath(path).catch(() => undefined)
        if (found !== undefined) return found
        const at = path.lastIndexOf("/")
        const parent = await context.fs.realpath(path.slice(0, at) || "/").catch(() => undefined)
        if (options.has("e") || (parent === undefined && !options.has("m")))
          throw new Refusal(`${name}: No such file or directory`)
        return parent === undefined ? path : `${parent === "/" ? "" : parent}${path.slice(at)}`
      }
      const base = options.value("r")
      const from = base === undefined ? undefined : await resolve(base)
      let out = ""
      for (const name of options.operands) {
        const path = await resolve(name)
        out += `${from === undefined ? path : relative(from, path)}\n`
      }
      return ok(out)
    }
  )
]

const relative = (from: string, to: string): string => {
  const steps = (path: string) => path.split("/").filter((one) => one !== "")
  const [base, target] = [steps(from), steps(to)]
  let same = 0
  while (same < base.length && base[same] === target[same]) same += 1
  return [...base.slice(same).map(() => ".."), ...target.slice(same)].join("/") || "."
}
