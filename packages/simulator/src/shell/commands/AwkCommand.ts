/**
 * awk, whose program is put as the interpreter's own one reads it: a field that is raised to a power, a file's name of
 * several parts, `/dev/stdout`, and separators that `-v` sets.
 */
import { defineCommand } from "just-bash"
import { withProgram } from "./Options.ts"

const VALUES: Readonly<Record<string, number>> = { "-F": 1, "-v": 1, "-f": 1 }
const SEPARATORS = /^(OFS|ORS|FS|RS)=(.*)$/s

export const awkCommand = defineCommand("awk", (all, context) => {
  const separators: Array<string> = []
  const args: Array<string> = []
  for (let at = 0; at < all.length; at++) {
    const arg = all[at]!
    if (!/^-./.test(arg) || arg === "--" || arg.startsWith("-f")) {
      args.push(...all.slice(at))
      break
    }
    const valued = arg in VALUES
    const [, name, value] = (arg.startsWith("-v") && SEPARATORS.exec(valued ? (all[at + 1] ?? "") : arg.slice(2))) || []
    if (name === undefined) args.push(...all.slice(at, at + (valued ? 2 : 1)))
    else separators.push(`${name}="${value!.replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`)
    if (valued) at++
  }
  const front = separators.length === 0 ? "" : `BEGIN{${separators.join(";")}} `
  return context.origCommand!(withProgram(args, VALUES, (program) => front + awkProgram(program)))
})

const TOKEN = /"(?:\\.|[^"\\])*"|#[^\n]*|\$?[A-Za-z_]\w*|\$?\d[\w.]*|>>|\*\*|[ \t]+|\\\n|[^]/y
const PATTERN = /\/(?:\\.|[^/\\\n])+\//y

/** The tokens of a program, which give it back when they are put together. */
const tokensOf = (program: string): Array<string> => {
  const tokens: Array<string> = []
  let operand = false
  for (let at = 0; at < program.length;) {
    const rule: RegExp = program[at] === "/" && !operand ? PATTERN : TOKEN
    rule.lastIndex = at
    const token: string = rule.exec(program)?.[0] ?? program[at]!
    tokens.push(token)
    at += token.length
    // A slash behind an operand divides; elsewhere it begins a pattern.
    if (!isBlank(token)) operand = /^["$\w)\]]/.test(token) && token !== "print" && token !== "return"
  }
  return tokens
}

const awkProgram = (program: string): string => {
  const tokens = tokensOf(program)
  let written = ""
  let printing = false
  let depth = 0
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    if (token === "print" || token === "printf") [printing, depth] = [true, 0]
    else if (/^[;{}\n]$/.test(token)) printing = false
    else if (token === "(") depth++
    else if (token === ")") depth--
    const next = behind(tokens, at + 1)
    if (printing && depth === 0 && (token === ">" || token === ">>")) {
      const parts = partsOf(tokens, next)
      const file = tokens.slice(next, parts.end).join("").trim()
      at = parts.end - 1
      if (file === '"/dev/stdout"') written = written.trimEnd()
      else written += parts.count > 1 && parts.closed ? `${token} (${file})` : `${token} ${file}`
    } else if (/^\$\w/.test(token) && (tokens[next] === "^" || tokens[next] === "**") && tokens[next + 1] !== "=") {
      // `$2^2` of the original is the field of a power.
      written += `(${token})`
    } else written += token
  }
  return written
}

/** The texts, fields and names that stand side by side; the original takes the first one alone. */
const partsOf = (tokens: ReadonlyArray<string>, begin: number) => {
  let end = begin
  let count = 0
  for (let at = begin; at < tokens.length; at = behind(tokens, at + 1)) {
    if (!/^["$A-Za-z_]/.test(tokens[at]!) || tokens[at + 1] === "(") break
    end = at + 1
    count++
  }
  const next = tokens[behind(tokens, end)]
  return { end, count, closed: next === undefined || /^[;}\n#]/.test(next) }
}

const behind = (tokens: ReadonlyArray<string>, from: number): number => {
  let at = from
  while (at < tokens.length && isBlank(tokens[at]!)) at++
  return at
}

const isBlank = (token: string): boolean => /^[ \t]+$|^\\\n$/.test(token)
