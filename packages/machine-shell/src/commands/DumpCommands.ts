/** Commands that show bytes as text: `od`, whose original always writes octal, `xxd` and `hexdump`. */
import type { Command, ResolvedCommandContext } from "just-bash"
import { bytesOf, binary, Refusal, sizeOf, tool } from "./Options.ts"
import type { Options } from "./Options.ts"

/** A format of `od`: kind `x` with size 2 is two bytes in hexadecimal; kind `c` is characters. */
interface Shape {
  readonly kind: string
  readonly size: number
  readonly width: number
}

const SHORT: Readonly<Record<string, string>> = {
  b: "o1",
  c: "c",
  d: "u2",
  o: "o2",
  s: "d2",
  x: "x2",
  i: "d4",
  l: "d8"
}
const SIZES: Readonly<Record<string, number>> = { C: 1, S: 2, I: 4, L: 8 }
const WIDTHS: Readonly<Record<string, ReadonlyArray<number>>> = {
  o: [3, 6, 11, 22],
  x: [2, 4, 8, 16],
  u: [3, 5, 10, 20],
  d: [4, 6, 11, 20]
}
/** Bytes of one dump. The dump of a file of the disk's size would have ten times that size. */
const MAX_BYTES = 4 * 1024 * 1024

const OD = {
  "address-radix": "A",
  format: "t",
  "read-bytes": "N",
  "skip-bytes": "j",
  "output-duplicates": "v",
  width: "w"
}

export const dumpCommands: ReadonlyArray<Command> = [
  tool("od", { flags: "bcdosxilv", valued: "AtNj", attached: "w", long: OD }, async (options, context) => {
    const input = await readWindow(options, context, "j", "N")
    const shapes = options.given.flatMap(([letter, value]) =>
      letter === "t" ? shapesOf(value) : SHORT[letter] === undefined ? [] : shapesOf(SHORT[letter])
    )
    if (shapes.length === 0) shapes.push(...shapesOf("o2"))
    const base = { d: 10, o: 8, x: 16, n: 0 }[options.value("A") ?? "o"]
    if (base === undefined) throw new Refusal(`invalid output address radix '${options.value("A")}'`)
    const address = (at: number) => (base === 0 ? "" : at.toString(base).padStart(base === 16 ? 6 : 7, "0"))
    const perByte = Math.max(...shapes.map(({ size, width }) => Math.ceil((width + 1) / size)))
    const row = options.has("w") ? Number(options.value("w") || 32) : 16
    if (!Number.isInteger(row) || row < 1 || shapes.some(({ size }) => row % size !== 0))
      throw new Refusal(`invalid -w argument '${options.value("w")}'`)
    const skipped = skipOf(options, "j")
    let out = ""
    let last = ""
    let hasStar = false
    for (let at = 0; at < input.length; at += row) {
      const part = input.slice(at, at + row)
      if (at > 0 && part === last && part.length === row && !options.has("v")) {
        if (!hasStar) out += "*\n"
        hasStar = true
        continue
      }
      ;[last, hasStar] = [part, false]
      shapes.forEach((shape, index) => {
        const one = shapes.length === 1 ? shape.width + 1 : perByte * shape.size
        let line = index === 0 ? address(skipped + at) : " ".repeat(address(0).length)
        for (let i = 0; i < part.length; i += shape.size)
          line += valueOf(shape, part.slice(i, i + shape.size)).padStart(one)
        out += `${line}\n`
      })
    }
    if (base !== 0) out += `${address(skipped + input.length)}\n`
    return binary(out)
  }),
  tool("xxd", { flags: "pru", valued: "lscg", long: {} }, async (options, context) => {
    if (options.has("r")) return binary(parseXxd(await bytesOf(context, options.operands[0] ?? "-"), options.has("p")))
    const input = await readWindow(options, context, "s", "l")
    const hex = (text: string) => (options.has("u") ? hexOf(text).toUpperCase() : hexOf(text))
    const row = Number(options.value("c") ?? (options.has("p") ? 30 : 16))
    const grouped = Number(options.value("g") ?? 2)
    if (!Number.isInteger(row) || row < 0 || !Number.isInteger(grouped) || grouped < 0)
      throw new Refusal("invalid number of columns")
    const rows = partsOf(input, row === 0 ? Infinity : row)
    if (options.has("p")) return binary(rows.map((part) => `${hex(part)}\n`).join(""))
    const columns = row === 0 ? 16 : row
    const width = columns * 2 + Math.ceil(columns / (grouped === 0 ? columns : grouped))
    const lines = rows.map((part, index) => {
      const groups = partsOf(part, grouped === 0 ? Infinity : grouped).map((one) => `${hex(one)} `)
      const at = (skipOf(options, "s") + index * row).toString(16).padStart(8, "0")
      return `${at}: ${groups.join("").padEnd(width)} ${printable(part)}\n`
    })
    return binary(lines.join(""))
  }),
  tool(
    "hexdump",
    { flags: "Cvx", valued: "ns", long: { canonical: "C", length: "n", skip: "s" } },
    async (options, context) => {
      const input = await readWindow(options, context, "s", "n")
      const skipped = skipOf(options, "s")
      const width = options.has("C") ? 8 : 7
      const address = (at: number) => (skipped + at).toString(16).padStart(width, "0")
      const shape: Shape = { kind: "x", size: 2, width: 4 }
      let out = ""
      let last = ""
      partsOf(input, 16).forEach((part, index) => {
        const isRepeated = part === last && part.length === 16 && !options.has("v")
        if (isRepeated && !out.endsWith("*\n")) out += "*\n"
        last = part
        if (isRepeated) return
        const half = (text: string) => [...text].map((one) => `${hexOf(one)} `).join("")
        out += options.has("C")
          ? `${address(index * 16)}  ${`${half(part.slice(0, 8))} ${half(part.slice(8))}`.padEnd(50)}|${printable(part)}|\n`
          : `${`${address(index * 16)}${partsOf(part, 2)
              .map((one) => valueOf(shape, one).padStart(options.has("x") ? 8 : 5))
              .join("")}`.padEnd(options.has("x") ? 71 : 47)}\n`
      })
      return binary(input.length === 0 ? out : `${out}${address(input.length)}\n`)
    }
  )
]

const skipOf = (options: Options, letter: string): number => countOf(options.value(letter) ?? "0")

const countOf = (text: string): number => {
  const found = /^0x[0-9a-f]+$/i.test(text) ? Number(text) : sizeOf(text)
  if (found === undefined) throw new Refusal(`invalid number '${text}'`)
  return found
}

/** Returns all operands in sequence, from an offset on and up to a length. */
const readWindow = async (
  options: Options,
  context: ResolvedCommandContext,
  skip: string,
  length: string
): Promise<string> => {
  let input = ""
  for (const operand of options.operands.length === 0 ? ["-"] : options.operands)
    input += await bytesOf(context, operand)
  const from = skipOf(options, skip)
  const limit = options.value(length)
  const found = input.slice(from, limit === undefined ? undefined : from + countOf(limit))
  if (found.length > MAX_BYTES) throw new Refusal(`more than this simulated machine dumps: ${MAX_BYTES} bytes`)
  context.executionScope?.consumeWork(Math.ceil(found.length / 64), "dump")
  return found
}

const shapesOf = (text: string): Array<Shape> => {
  const found = text.match(/[acdoux](?:[CSIL]|\d+)?/g) ?? []
  if (found.join("") !== text || text === "") throw new Refusal(`invalid type string '${text}'`)
  return found.map((one) => {
    const kind = one[0]!
    if (kind === "c") return { kind, size: 1, width: 3 }
    const size = SIZES[one[1] ?? "I"] ?? Number(one.slice(1))
    const width = WIDTHS[kind]?.[Math.log2(size)]
    if (width === undefined) throw new Refusal(`invalid type string '${text}'`)
    return { kind, size, width }
  })
}

const NAMED: Readonly<Record<string, string>> = {
  "\0": "\\0",
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r"
}

const valueOf = ({ kind, size, width }: Shape, part: string): string => {
  if (kind === "c") return NAMED[part] ?? (/[ -~]/.test(part) ? part : part.charCodeAt(0).toString(8).padStart(3, "0"))
  let value = 0n
  for (let i = part.length - 1; i >= 0; i--) value = value * 256n + BigInt(part.charCodeAt(i))
  if (kind === "d") return String(BigInt.asIntN(size * 8, value))
  if (kind === "u") return String(value)
  return value.toString(kind === "x" ? 16 : 8).padStart(width, "0")
}

const hexOf = (text: string): string =>
  Array.from(text, (one) => one.charCodeAt(0).toString(16).padStart(2, "0")).join("")
const printable = (text: string): string => text.replace(/[^ -~]/g, ".")
const partsOf = (text: string, size: number): ReadonlyArray<string> =>
  size === Infinity
    ? text === ""
      ? []
      : [text]
    : Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))

/** Returns the bytes of an output of `xxd`. */
const parseXxd = (text: string, plain: boolean): string => {
  const digits = plain
    ? text.replace(/[^0-9a-fA-F]/g, "")
    : text
        .split("\n")
        .map((line) => (/^[0-9a-f]+:\s?((?:[0-9a-f]+ )*[0-9a-f]*)/i.exec(line)?.[1] ?? "").replaceAll(" ", ""))
        .join("")
  return partsOf(digits.slice(0, digits.length & ~1), 2)
    .map((pair) => String.fromCharCode(parseInt(pair, 16)))
    .join("")
}
