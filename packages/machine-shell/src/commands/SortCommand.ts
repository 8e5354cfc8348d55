/**
 * `sort` in the order of bytes, as `LANG=C.UTF-8` requires. The original takes the host's alphabet, and lacks -g, -z,
 * -m and -R.
 */
import type { Command } from "just-bash"
import type { ShellSession } from "../core/ShellSession.ts"
import { compare } from "./FileFacts.ts"
import { binary, bytesOf, Refusal, tool } from "./Options.ts"

interface Place {
  readonly field: number
  readonly character: number
  readonly skipsBlanks: boolean
}
interface Key {
  readonly from: Place
  readonly to: Place | undefined
  readonly flags: string
}
type Order = (a: string, b: string) => number

const ORDERS = "gnhMVR"
const LONG = {
  reverse: "r",
  "numeric-sort": "n",
  "general-numeric-sort": "g",
  "human-numeric-sort": "h",
  "version-sort": "V",
  "month-sort": "M",
  "random-sort": "R",
  unique: "u",
  "ignore-case": "f",
  "ignore-leading-blanks": "b",
  "dictionary-order": "d",
  stable: "s",
  merge: "m",
  check: "c",
  "zero-terminated": "z",
  key: "k",
  "field-separator": "t",
  output: "o",
  parallel: "S",
  "buffer-size": "S"
}

export const sortCommand = (session: ShellSession): Command =>
  tool("sort", { flags: "bcCdfghimMnRrsuVz", valued: "ktoST", long: LONG, failsWith: 2 }, async (options, context) => {
    const separator = options.has("z") ? "\0" : "\n"
    const operands = options.operands.length === 0 ? ["-"] : options.operands
    const lines: Array<string> = []
    for (const operand of operands) {
      const input = await bytesOf(context, operand).catch((error: unknown) => {
        throw error instanceof Refusal ? new Refusal(`cannot read: ${error.message}`, 2) : error
      })
      const found = input.split(separator)
      if (found.at(-1) === "") found.pop()
      for (const line of found) lines.push(line)
    }
    context.executionScope?.consumeWork(Math.ceil(lines.length / 10), "sort")
    const general = options.given
      .map(([letter]) => letter)
      .filter((letter) => `bdfir${ORDERS}`.includes(letter))
      .join("")
    const tab = tabOf(options.value("t"))
    const salt = options.given.some((one) => one.join("").includes("R")) ? session.random() : 0
    const keys = options.given.filter(([letter]) => letter === "k").map(([, text]) => keyOf(text, general))
    if (keys.length === 0) keys.push({ from: START, to: undefined, flags: general })
    const orders = keys.map((key): Order => {
      const order = orderOf(key.flags, salt)
      const part = partOf(key, tab)
      const sign = key.flags.includes("r") ? -1 : 1
      return (a, b) => sign * order(part(a), part(b))
    })
    const byKeys: Order = (a, b) => {
      for (const order of orders) {
        const found = order(a, b)
        if (found !== 0) return found
      }
      return 0
    }
    const last = options.has("su") ? 0 : general.includes("r") ? -1 : 1
    const byAll: Order = (a, b) => byKeys(a, b) || last * compare(a, b)
    if (options.has("cC")) {
      const at = lines.findIndex(
        (line, index) =>
          index > 0 &&
          (byAll(lines[index - 1]!, line) > 0 || (options.has("u") && byKeys(lines[index - 1]!, line) === 0))
      )
      if (at < 0) return binary("")
      return binary("", options.has("C") ? "" : `sort: ${operands[0]}:${at + 1}: disorder: ${lines[at]}\n`, 1)
    }
    lines.sort(byAll)
    const kept = options.has("u")
      ? lines.filter((line, index) => index === 0 || byKeys(lines[index - 1]!, line) !== 0)
      : lines
    const text = kept.map((line) => line + separator).join("")
    const target = options.value("o")
    if (target === undefined) return binary(text)
    await context.fs.writeFile(context.fs.resolvePath(context.cwd, target), text, "binary")
    return binary("")
  })

const tabOf = (text: string | undefined): string | undefined => {
  if (text === undefined || text.length === 1) return text
  if (text === "\\0") return "\0"
  throw new Refusal(text === "" ? "empty tab" : `multi-character tab '${text}'`, 2)
}

const START: Place = { field: 0, character: 0, skipsBlanks: false }

/** Parses `F[.C][flags][,F[.C][flags]]`. A key without flags takes the general ones. */
const keyOf = (text: string, general: string): Key => {
  const found = /^(\d+)(?:\.(\d+))?([bdfgiMhnRrV]*)(?:,(\d+)(?:\.(\d+))?([bdfgiMhnRrV]*))?$/.exec(text)
  if (found === null || Number(found[1]) === 0)
    throw new Refusal(`invalid number at field start: invalid count at start of '${text}'`, 2)
  const [, field, character = "1", flags = "", toField, toCharacter = "0", toFlags = ""] = found
  const own = flags + toFlags === "" ? general : flags + toFlags
  const inherits = flags + toFlags === ""
  return {
    from: {
      field: Number(field) - 1,
      character: Number(character) - 1,
      skipsBlanks: (inherits ? general : flags).includes("b")
    },
    to:
      toField === undefined
        ? undefined
        : {
            field: Number(toField) - 1,
            character: Number(toCharacter),
            skipsBlanks: (inherits ? general : toFlags).includes("b")
          },
    flags: own
  }
}

const partOf =
  (key: Key, tab: string | undefined) =>
  (line: string): string => {
    if (key.from === START) return line
    const start = fieldStart(line, tab, key.from.field, key.from.skipsBlanks)
    const from = Math.min(line.length, start + key.from.character)
    if (key.to === undefined) return line.slice(from)
    const { field, character, skipsBlanks } = key.to
    const end =
      character === 0
        ? fieldEnd(line, tab, fieldStart(line, tab, field, false))
        : fieldStart(line, tab, field, skipsBlanks) + character
    return line.slice(from, Math.max(from, end))
  }

/** Returns the start of a field. Without a separator the blanks in front of a field belong to it. */
const fieldStart = (line: string, tab: string | undefined, field: number, skipsBlanks: boolean): number => {
  let at = 0
  for (let i = 0; i < field && at < line.length; i++) {
    at = fieldEnd(line, tab, at)
    if (tab !== undefined && at < line.length) at += 1
    else if (tab !== undefined) return line.length
  }
  if (skipsBlanks) while (at < line.length && isBlank(line[at]!)) at += 1
  return at
}

const fieldEnd = (line: string, tab: string | undefined, from: number): number => {
  if (tab !== undefined) {
    const found = line.indexOf(tab, from)
    return found < 0 ? line.length : found
  }
  let at = from
  while (at < line.length && isBlank(line[at]!)) at += 1
  while (at < line.length && !isBlank(line[at]!)) at += 1
  return at
}

const isBlank = (one: string): boolean => one === " " || one === "\t"

const orderOf = (flags: string, salt: number): Order => {
  if (flags.includes("n"))
    return by((text) => Number(/^[ \t]*(-?\d*(?:\.\d*)?)/.exec(text)![1]!.replace(/^(-?)\.?$/, "0")))
  if (flags.includes("g")) return by((text) => generalOf(text))
  if (flags.includes("h")) return by(humanOf)
  if (flags.includes("M")) return by((text) => MONTHS.indexOf(text.trimStart().slice(0, 3).toUpperCase()))
  if (flags.includes("V")) return (a, b) => compareVersions(a, b)
  if (flags.includes("R")) return by((text) => scatter(text, salt))
  const plain = (text: string): string => {
    let found = flags.includes("b") ? text.replace(/^[ \t]+/, "") : text
    if (flags.includes("d")) found = found.replace(/[^a-zA-Z0-9 \t]/g, "")
    if (flags.includes("i")) found = found.replace(/[^ -~]/g, "")
    return flags.includes("f") ? found.replace(/[a-z]+/g, (letters) => letters.toUpperCase()) : found
  }
  return /[bdif]/.test(flags) ? (a, b) => compare(plain(a), plain(b)) : compare
}

const by =
  (value: (text: string) => number): Order =>
  (a, b) => {
    const [x, y] = [value(a), value(b)]
    return x < y ? -1 : x > y ? 1 : 0
  }

const MONTHS = ["", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]

/** Returns the value for `-g`. A text that is no number comes first, then -inf. */
const generalOf = (text: string): number => {
  const found = /^\s*[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|inf)/i.exec(text)?.[0].trim()
  if (found === undefined) return -Infinity
  return /inf/i.test(found) ? (found.startsWith("-") ? -Number.MAX_VALUE : Infinity) : Number(found)
}

/** Returns the value for `-h`. The unit counts before the number, as in GNU's. */
const humanOf = (text: string): number => {
  const [, sign, digits = "", unit = ""] = /^[ \t]*(-?)(\d*(?:\.\d*)?)([KkMGTPEZY]?)/.exec(text)!
  const value = Number(digits === "" || digits === "." ? 0 : digits)
  const power = value === 0 ? 0 : " KMGTPEZY".indexOf(unit.toUpperCase() || " ")
  return (sign === "-" ? -1 : 1) * (power * 1e9 + Math.min(value, 1e9 - 1))
}

const scatter = (text: string, salt: number): number => {
  let hash = salt
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16_777_619)
  return (Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) ^ (hash >>> 13)) >>> 0
}

/** Compares for `-V`: digits as numbers, letters before all other characters, `~` before the end. */
const compareVersions: Order = (a, b) => {
  const [as, bs] = [a, b].map((text) => text.match(/\d+|\D/g) ?? [])
  for (let i = 0; i < Math.max(as!.length, bs!.length); i++) {
    const [x = "", y = ""] = [as![i], bs![i]]
    const bothNumbers = /^\d/.test(x) && /^\d/.test(y)
    const found = bothNumbers ? Number(x) - Number(y) : rank(x) - rank(y)
    if (found !== 0) return found
  }
  return 0
}

const rank = (one: string): number =>
  one === "~"
    ? -1
    : one === "" || /^\d/.test(one)
      ? 0
      : /[a-zA-Z]/.test(one)
        ? one.charCodeAt(0)
        : 256 + one.charCodeAt(0)
