/**
 * `ls`. The original puts blank lines between operands, sorts each of them alone and not by time, and reads the host's
 * clock.
 */
import type { Command, ResolvedCommandContext } from "just-bash"
import type { ShellSession } from "../core/ShellSession.ts"
import { kibibytesOf, compare, modeOf, apparentSizeOf, formatSize } from "./FileFacts.ts"
import type { FileStat } from "./FileFacts.ts"
import { tool } from "./Options.ts"
import type { Options } from "./Options.ts"

interface Entry {
  readonly name: string
  readonly path: string
  readonly stat: FileStat
}

const LONG = {
  all: "a",
  "almost-all": "A",
  directory: "d",
  classify: "F",
  reverse: "r",
  recursive: "R",
  "human-readable": "h",
  // Colors show only on a terminal, and the output goes to none.
  color: "C"
}

export const listCommand = (session: ShellSession): Command =>
  tool("ls", { flags: "aAdFrRhlStU1pngoCNqL", long: LONG, failsWith: 2 }, async (options, context) => {
    const operands = options.operands.length === 0 ? ["."] : options.operands
    const isFollowed = !options.has("ldFngo") || options.has("L")
    const found: Array<Entry> = []
    let errors = ""
    for (const name of operands) {
      const entry = await entryOf(context, name, name, isFollowed)
      if (entry === undefined) errors += `ls: cannot access '${name}': No such file or directory\n`
      else found.push(entry)
    }
    const order = orderBy(options)
    const plain = order(found.filter(({ stat }) => options.has("d") || !stat.isDirectory))
    const shown: Array<string> = []
    if (plain.length > 0) shown.push((await formatEntries(context, options, plain, session.clock.now)).join(""))
    const directories = order(found.filter((entry) => !plain.includes(entry)))
    const hasTitles = operands.length > 1 || options.has("R")
    const list = async (directory: Entry): Promise<void> => {
      const names = (await context.fs.readdir(directory.path)).filter(
        (name) => options.has("aA") || !name.startsWith(".")
      )
      context.executionScope?.consumeWork(names.length, "ls")
      const inside: Array<Entry> = []
      for (const name of options.has("a") ? [".", "..", ...names] : names) {
        const entry = await entryOf(context, name, `${directory.path}/${name}`, false)
        if (entry !== undefined) inside.push(entry)
      }
      const entries = order(inside)
      const total = entries.reduce((sum, { stat }) => sum + kibibytesOf(stat), 0)
      const head =
        (hasTitles ? `${directory.name}:\n` : "") +
        (options.has("lngo") ? `total ${options.has("h") ? formatSize(total * 1024) : total}\n` : "")
      shown.push(head + (await formatEntries(context, options, entries, session.clock.now)).join(""))
      if (!options.has("R")) return
      for (const entry of entries)
        if (entry.stat.isDirectory && !/^\.\.?$/.test(entry.name))
          await list({ ...entry, name: `${directory.name}/${entry.name}` })
    }
    for (const directory of directories) await list(directory)
    return { stdout: shown.join("\n"), stderr: errors, exitCode: errors === "" ? 0 : 2 }
  })

const entryOf = async (
  context: ResolvedCommandContext,
  name: string,
  operand: string,
  isFollowed: boolean
): Promise<Entry | undefined> => {
  const path = context.fs.resolvePath(context.cwd, operand)
  const own = await context.fs.lstat(path).catch(() => undefined)
  if (own === undefined || (operand.endsWith("/") && own.isFile)) return undefined
  const target =
    own.isSymbolicLink && (isFollowed || operand.endsWith("/")) ? await context.fs.stat(path).catch(() => own) : own
  return { name, path, stat: target }
}

const orderBy =
  (options: Options) =>
  (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
    if (options.has("U")) return entries
    const by = options.given.findLast(([letter]) => letter === "t" || letter === "S")?.[0]
    const sorted = entries.toSorted(
      (a, b) =>
        (by === "t"
          ? b.stat.mtime.getTime() - a.stat.mtime.getTime()
          : by === "S"
            ? apparentSizeOf(b.stat) - apparentSizeOf(a.stat)
            : 0) || compare(a.name, b.name)
    )
    return options.has("r") ? sorted.toReversed() : sorted
  }

const formatEntries = async (
  context: ResolvedCommandContext,
  options: Options,
  entries: ReadonlyArray<Entry>,
  now: number
): Promise<ReadonlyArray<string>> => {
  const nameOf = (entry: Entry): string => `${entry.name}${markOf(options, entry.stat)}`
  if (!options.has("lngo")) return entries.map((entry) => `${nameOf(entry)}\n`)
  const owner = options.has("n") ? "0" : "root"
  const rows: Array<Array<string>> = []
  for (const entry of entries) {
    const { stat } = entry
    const size = options.has("h") ? formatSize(apparentSizeOf(stat)) : String(apparentSizeOf(stat))
    const links = stat.isDirectory ? String(2 + (await subdirectories(context, entry.path))) : "1"
    const target = stat.isSymbolicLink ? ` -> ${await context.fs.readlink(entry.path)}` : ""
    const owners = [...(options.has("g") ? [] : [owner]), ...(options.has("o") ? [] : [owner])]
    rows.push([modeOf(stat), links, ...owners, size, formatTime(stat.mtime, now), nameOf(entry) + target])
  }
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const last = widths.length - 1
  return rows.map(
    (row) => `${row.map((cell, column) => (column === last ? cell : cell.padStart(widths[column]!))).join(" ")}\n`
  )
}

const markOf = (options: Options, stat: FileStat): string => {
  if (stat.isDirectory) return options.has("Fp") ? "/" : ""
  if (!options.has("F")) return ""
  return stat.isSymbolicLink ? (options.has("lngo") ? "" : "@") : (stat.mode & 0o111) !== 0 ? "*" : ""
}

const subdirectories = async (context: ResolvedCommandContext, path: string): Promise<number> => {
  let count = 0
  for (const name of await context.fs.readdir(path))
    if ((await context.fs.lstat(`${path}/${name}`).catch(() => undefined))?.isDirectory === true) count += 1
  return count
}

const HALF_A_YEAR_MS = 15_778_476_000
const formatTime = (date: Date, now: number): string => {
  const day = `${date.toUTCString().slice(8, 11)} ${String(date.getUTCDate()).padStart(2)}`
  const isRecent = date.getTime() <= now && now - date.getTime() < HALF_A_YEAR_MS
  return `${day} ${isRecent ? date.toISOString().slice(11, 16) : ` ${date.getUTCFullYear()}`}`
}
