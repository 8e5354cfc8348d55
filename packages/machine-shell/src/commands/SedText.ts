/** Expands the replacements of sed, and shows texts as its `l` command does. */
import type { Piece } from "./SedScript.ts"

export const expandReplacement = (pieces: ReadonlyArray<Piece>, match: RegExpExecArray): string => {
  let text = ""
  let [all, one]: [string, string] = ["E", ""]
  for (const piece of pieces) {
    if (typeof piece === "object") {
      if (/[ul]/.test(piece.changes)) one = piece.changes
      else [all, one] = [piece.changes, ""]
      continue
    }
    const value = typeof piece === "number" ? (match[piece] ?? "") : piece
    if (value === "") continue
    const cased = all === "U" ? value.toUpperCase() : all === "L" ? value.toLowerCase() : value
    const first = String.fromCodePoint(cased.codePointAt(0)!)
    text += one === "" ? cased : (one === "u" ? first.toUpperCase() : first.toLowerCase()) + cased.slice(first.length)
    one = ""
  }
  return text
}

/** Returns a text as `l` shows it: invisible characters as escapes, lines of at most `width` characters. */
export const formatVisible = (text: string, width: number): string => {
  const escapes: Readonly<Record<string, string>> = {
    "\\": "\\\\",
    "\x07": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v"
  }
  const octal = (byte: number) =>
    byte < 32 || byte > 126 ? `\\${byte.toString(8).padStart(3, "0")}` : String.fromCharCode(byte)
  const parts = Array.from(text, (char) => escapes[char] ?? Array.from(Buffer.from(char), octal).join(""))
  let [lines, line] = ["", ""]
  for (const part of parts) {
    if (width > 1 && line.length + part.length > width - 1) [lines, line] = [`${lines}${line}\\\n`, ""]
    line += part
  }
  return `${lines}${line}$`
}
