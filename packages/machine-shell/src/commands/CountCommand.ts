/** wc. The columns are as wide as the sizes of its files require. */
import type { Command } from "just-bash"
import { bytesOf, Refusal, tool } from "./Options.ts"

const LONG = { lines: "l", words: "w", chars: "m", bytes: "c", "max-line-length": "L" }
/** In the order in which wc shows them. */
const COUNTS: Readonly<Record<string, (bytes: string) => number>> = {
  l: (bytes) => countBytes(bytes, (code) => code === NEWLINE),
  w: (bytes) => countBytes(bytes, (code, before) => isOfWord(code) && !isOfWord(before)),
  m: (bytes) => countBytes(bytes, (code) => (code & 0xc0) !== 0x80),
  c: (bytes) => bytes.length,
  L: (bytes) => longestOf(Buffer.from(bytes, "latin1").toString())
}

export const countCommand: Command = tool("wc", { flags: "lwmcL", long: LONG }, async (options, context) => {
  const letters = Object.keys(COUNTS).filter((one) =>
    options.given.length === 0 ? "lwc".includes(one) : options.has(one)
  )
  const names = options.operands.length === 0 ? [undefined] : options.operands
  const rows: Array<{ readonly counts: ReadonlyArray<number>; readonly name: string | undefined }> = []
  let [size, errors] = [0, ""]
  for (const name of names) {
    try {
      const bytes = await bytesOf(context, name ?? "-")
      context.executionScope?.consumeWork(bytes.length >> 6, "wc")
      size += bytes.length
      rows.push({ counts: letters.map((one) => COUNTS[one]!(bytes)), name })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      errors += `wc: ${error.message}\n`
    }
  }
  const sums = letters.map((one, at) => {
    const column = rows.map(({ counts }) => counts[at]!)
    return one === "L" ? Math.max(0, ...column) : column.reduce((sum, count) => sum + count, 0)
  })
  if (names.length > 1) rows.push({ counts: sums, name: "total" })
  // Input from a pipe has no known size.
  const least = letters.length === 1 ? 1 : options.operands.length === 0 ? 7 : String(size).length
  const width = names.length === 1 ? least : String(size).length
  const shown = rows.map(({ counts, name }) =>
    [...counts.map((count) => String(count).padStart(width)), ...(name === undefined ? [] : [name])].join(" ")
  )
  return { stdout: shown.map((line) => `${line}\n`).join(""), stderr: errors, exitCode: errors === "" ? 0 : 1 }
})

const NEWLINE = 10
const isOfWord = (code: number): boolean => code > 32 && code !== 127

/** Counts the bytes that match. `matches` also gets the byte before, 0 at the beginning. */
const countBytes = (bytes: string, matches: (code: number, before: number) => boolean): number => {
  let [count, before] = [0, 0]
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes.charCodeAt(at)
    if (matches(code, before)) count++
    before = code
  }
  return count
}

const longestOf = (text: string): number => {
  let longest = 0
  for (const line of text.split("\n")) longest = Math.max(longest, line.replaceAll("\t", " ".repeat(8)).length)
  return longest
}
