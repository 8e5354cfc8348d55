/** Parts of files, and files of a given size: `head`, `tail`, `dd`, `truncate`, `fallocate`. The disk bounds them. */
import { defineCommand } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { extendEndless, readEndlessText, isEndless, repeatedLineOf } from "../core/Devices.ts"
import { MAX_DISK_BYTES } from "../core/MachineFs.ts"
import { fail } from "../core/ShellSession.ts"
import type { ShellSession } from "../core/ShellSession.ts"
import { binary, bytesOf, Refusal, sizeOf, tool } from "./Options.ts"
import type { Options, Syntax } from "./Options.ts"

const ENDS: Syntax = {
  flags: "qvzfF",
  valued: "nc",
  long: { lines: "n", bytes: "c", quiet: "q", silent: "q", verbose: "v", "zero-terminated": "z", follow: "f" }
}

export const byteCommands = (session: ShellSession): ReadonlyArray<Command> => {
  const random = () => session.random()
  /** Returns at least the first `size` bytes or `lines` lines of an operand, as far as it has them. */
  const readStart = async (
    context: ResolvedCommandContext,
    operand: string,
    size: number,
    lines = 0
  ): Promise<string> => {
    const path = context.fs.resolvePath(context.cwd, operand)
    if (size > MAX_DISK_BYTES && size !== Infinity && isEndless(path)) throw new Refusal(TOO_LARGE)
    if (isEndless(path) && size !== Infinity) return readEndlessText(path, size, random)
    const input = await bytesOf(context, operand)
    if (operand !== "-" || (size === Infinity && lines === 0)) return input
    const wanted = size === Infinity ? lines * (repeatedLineOf(input)?.length ?? 0) : size
    const whole = wanted > MAX_DISK_BYTES ? MAX_DISK_BYTES + 1 : wanted
    const found = extendEndless(input, whole, random)
    if (found.length > MAX_DISK_BYTES) throw new Refusal(TOO_LARGE)
    return found
  }
  const ends = (name: "head" | "tail") => {
    const command = tool(name, ENDS, async (options, context) => {
      const { unit, count, sign } = countOf(options)
      const isBounded = name === "head" && sign !== "-"
      const [bounded, lines] = !isBounded ? [Infinity, 0] : unit === "c" ? [count, 0] : [Infinity, count]
      const separator = options.has("z") ? "\0" : "\n"
      const operands = options.operands.length === 0 ? ["-"] : options.operands
      const hasTitles = options.value("v") !== undefined || (operands.length > 1 && !options.has("q"))
      let out = ""
      let errors = ""
      for (const operand of operands) {
        try {
          const input = await readStart(context, operand, bounded, lines)
          const shown = operand === "-" ? "standard input" : operand
          if (hasTitles) out += `${out === "" ? "" : "\n"}==> ${shown} <==\n`
          out += partOf(name, input, unit, count, sign, separator)
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          errors += explain(name, operand, error.message)
        }
      }
      if (options.has("fF")) {
        if (out !== "") throw new Refusal("following a file is not simulated")
        session.clock.sleep(Infinity)
      }
      return binary(out, errors, errors === "" ? 0 : 1)
    })
    return defineCommand(name, (args, context) => command.execute(modernize(args), context))
  }
  return [
    ends("head"),
    ends("tail"),
    defineCommand("dd", async (args, context) => {
      const words = new Map<string, string>()
      for (const arg of args) {
        const [, key = "", value = ""] = /^([a-z]+)=(.*)$/.exec(arg) ?? []
        if (!DD.includes(key)) return fail(`dd: unrecognized operand '${arg}'`)
        words.set(key, value)
      }
      const number = (key: string, otherwise: number): number => {
        const text = words.get(key)
        const found =
          text === undefined ? otherwise : text.split("x").reduce((all, one) => all * (sizeOf(one) ?? NaN), 1)
        if (Number.isNaN(found)) throw new Refusal(`invalid number: '${text}'`)
        return found
      }
      const flags = (key: string) => (words.get(key) ?? "").split(",").filter((one) => one !== "")
      try {
        const block = number("bs", 512)
        const inBlock = number("ibs", block)
        const outBlock = number("obs", block)
        const skip = number("skip", 0) * (flags("iflag").includes("skip_bytes") ? 1 : inBlock)
        const count = number("count", Infinity) * (flags("iflag").includes("count_bytes") ? 1 : inBlock)
        const conversions = flags("conv")
        const unknown = conversions.find((one) => !CONVERSIONS.includes(one))
        if (unknown !== undefined) throw new Refusal(`conv=${unknown} is not simulated`)
        const from = words.get("if")
        const to = words.get("of")
        const path = context.fs.resolvePath(context.cwd, from ?? "")
        if (from !== undefined && isEndless(path) && count > MAX_DISK_BYTES) throw new Refusal(full(to))
        const input = await readStart(context, from ?? "-", skip + count).catch((error: unknown) => {
          if (error instanceof Refusal && error.message !== TOO_LARGE)
            throw new Refusal(`failed to open '${error.message.replace(": ", "': ")}`)
          throw error
        })
        let data = input.slice(skip, skip + count)
        if (conversions.includes("ucase")) data = data.toUpperCase()
        if (conversions.includes("lcase")) data = data.toLowerCase()
        if (to !== undefined) {
          const target = context.fs.resolvePath(context.cwd, to)
          const kept = conversions.includes("notrunc") || flags("oflag").includes("append")
          const there =
            (kept || words.has("seek")) && (await context.fs.exists(target)) ? await bytesOf(context, to) : ""
          const at = flags("oflag").includes("append")
            ? there.length
            : number("seek", 0) * (flags("oflag").includes("seek_bytes") ? 1 : outBlock)
          if (at + data.length > MAX_DISK_BYTES) throw new Refusal(full(to))
          const after = kept ? there.slice(at + data.length) : ""
          await writeBytes(context, target, there.slice(0, at).padEnd(at, "\0") + data + after)
        }
        const shown = to === undefined ? data : ""
        // The interpreter miscounts bytes together with a redirected stderr, and ends the command.
        const isQuiet = words.get("status") === "none" || /[^\0-\x7f]/.test(shown)
        return binary(shown, isQuiet ? "" : formatReport(data.length, inBlock, outBlock, words.get("status")))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return fail(`dd: ${error.message}`)
      }
    }),
    tool(
      "truncate",
      { flags: "co", valued: "sr", long: { size: "s", "no-create": "c", reference: "r" } },
      async (options, context) => {
        const [, sign = "", text = ""] = /^([-+<>]?)(.*)$/.exec(options.value("s") ?? "") ?? []
        const size = sizeOf(text)
        if (options.value("s") === undefined || options.has("or")) throw new Refusal("you must specify '--size'")
        if (size === undefined) throw new Refusal(`Invalid number: '${options.value("s")}'`)
        for (const operand of options.operands) {
          const exists = await context.fs.exists(context.fs.resolvePath(context.cwd, operand))
          if (!exists && options.has("c")) continue
          await resize(context, operand, (old) =>
            sign === "+"
              ? old + size
              : sign === "-"
                ? old - size
                : sign === "<"
                  ? Math.min(old, size)
                  : sign === ">"
                    ? Math.max(old, size)
                    : size
          )
        }
        if (options.operands.length === 0) throw new Refusal("missing file operand")
        return binary("")
      }
    ),
    tool("fallocate", { flags: "x", valued: "l", long: { length: "l", posix: "x" } }, async (options, context) => {
      const size = sizeOf(options.value("l") ?? "")
      const [operand] = options.operands
      if (size === undefined || operand === undefined) throw new Refusal("no length argument specified")
      await resize(context, operand, (old) => Math.max(old, size))
      return binary("")
    })
  ]
}

const TOO_LARGE = `more than this simulated machine holds: ${MAX_DISK_BYTES} bytes`
const DD = ["if", "of", "bs", "ibs", "obs", "count", "skip", "seek", "conv", "iflag", "oflag", "status"]
/** Conversions that are simulated, or without effect on a disk in memory. Every other one is refused. */
const CONVERSIONS = ["notrunc", "ucase", "lcase", "fsync", "fdatasync", "noerror", "sparse"]
const full = (to: string | undefined) => `error writing '${to ?? "standard output"}': No space left on device`

/** Rewrites `-5` to `-n5` and `-5c` to `-c5`. `head -c 5` and `tail +3` stay. */
const modernize = (args: ReadonlyArray<string>): Array<string> =>
  args.map((arg, at) => (/^-[nc]$/.test(args[at - 1] ?? "") ? arg : arg.replace(/^-(\d+)(c)?$/, modernizeOption)))
const modernizeOption = (_: string, count: string, unit = "n"): string => `-${unit}${count}`

const countOf = (options: Options): { unit: "n" | "c"; count: number; sign: string } => {
  const [unit, text] = options.given.findLast(([letter]) => letter === "n" || letter === "c") ?? ["n", "10"]
  const [, sign = "", digits = ""] = /^([-+]?)(.*)$/.exec(text) ?? []
  const count = sizeOf(digits)
  if (count === undefined) throw new Refusal(`invalid number of ${unit === "n" ? "lines" : "bytes"}: '${text}'`)
  return { unit: unit === "n" ? "n" : "c", count, sign }
}

const partOf = (name: string, input: string, unit: string, count: number, sign: string, separator: string): string => {
  const ends = unit === "c" ? undefined : lineEnds(input, separator)
  const size = ends?.length ?? input.length
  const at =
    name === "head"
      ? sign === "-"
        ? Math.max(0, size - count)
        : count
      : sign === "+"
        ? Math.max(0, count - 1)
        : Math.max(0, size - count)
  const offset = ends === undefined ? at : at === 0 ? 0 : (ends[at - 1] ?? input.length)
  return name === "head" ? input.slice(0, offset) : input.slice(offset)
}

/** Returns the end of each line, behind its newline. The last line may lack one. */
const lineEnds = (input: string, separator: string): Array<number> => {
  const ends: Array<number> = []
  for (let at = 0; at < input.length;) {
    const found = input.indexOf(separator, at)
    at = found < 0 ? input.length : found + 1
    ends.push(at)
  }
  return ends
}

const explain = (name: string, operand: string, message: string): string =>
  message.endsWith("Is a directory")
    ? `${name}: error reading '${operand}': Is a directory\n`
    : message.endsWith("No such file or directory")
      ? `${name}: cannot open '${operand}' for reading: No such file or directory\n`
      : `${name}: ${message}\n`

const writeBytes = async (context: ResolvedCommandContext, path: string, data: string): Promise<void> => {
  // A copy: a small Buffer shares its memory with other Buffers.
  await context.fs.writeFile(path, new Uint8Array(Buffer.from(data, "latin1"))).catch((error: unknown) => {
    if (!/ENOSPC/.test(String(error))) throw error
    throw new Refusal(full(path))
  })
}

const resize = async (
  context: ResolvedCommandContext,
  operand: string,
  sizeFrom: (old: number) => number
): Promise<void> => {
  const path = context.fs.resolvePath(context.cwd, operand)
  const old = (await context.fs.exists(path)) ? await bytesOf(context, operand) : ""
  const size = Math.max(0, sizeFrom(old.length))
  if (size > MAX_DISK_BYTES) throw new Refusal(`failed to truncate '${operand}' at ${size} bytes: File too large`)
  await writeBytes(context, path, old.slice(0, size).padEnd(size, "\0"))
}

/** Returns the report of `dd`, whose work takes no time here. */
const formatReport = (size: number, inBlock: number, outBlock: number, status: string | undefined): string => {
  const records = (block: number) => `${Math.floor(size / block)}+${size % block === 0 ? 0 : 1}`
  const lines = `${records(inBlock)} records in\n${records(outBlock)} records out\n`
  if (status === "noxfer") return lines
  const units = [si(size, 1000, "B"), si(size, 1024, "iB")].filter((_, index) => size >= (index === 0 ? 1000 : 1024))
  return `${lines}${size} bytes${units.length === 0 ? "" : ` (${units.join(", ")})`} copied, 0 s, Infinity B/s\n`
}

const si = (size: number, base: number, suffix: string): string => {
  let value = size
  let power = 0
  for (; value >= base; power++) value /= base
  const unit = `${base === 1000 ? " kMGT"[power] : " KMGT"[power]}${suffix}`
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`
}
