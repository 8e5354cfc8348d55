/**
 * Rewrites an awk program to the forms that the interpreter reads correctly: a field raised to a power, a file name of
 * several parts, `/dev/stdout`, an element that is only named, `int` of a number below zero. Random numbers and the
 * time are the machine's.
 */
import { parenthesizeOperands } from "./AwkOperands.ts"
import { markFormat } from "./AwkNumbers.ts"
import { closeStatementOf, fileOf } from "./AwkPipes.ts"
import { skipBlanks, isBlank, tokensOf } from "./AwkTokens.ts"

export interface AwkProgram {
  readonly text: string
  /** Assignments that `BEGIN` must make first. */
  readonly begin: ReadonlyArray<string>
  /** True: the program prints to no file and no command. */
  readonly isAlone: boolean
}

/** Values of the machine that a program can use: Unix seconds, and a random integer. */
interface Machine {
  readonly seconds: number
  readonly random: () => number
}

/** Returns the rewritten program. Appends to `pipes` each command that the program prints to. */
export const rewriteAwkProgram = (program: string, { random, seconds }: Machine, pipes: Array<string>): AwkProgram => {
  const { formats, isAlone, written: plain } = rewriteTokens(parenthesizeOperands(tokensOf(program)), seconds, pipes)
  const written = isAlone ? formats.reduceRight(markNumbers, plain) : plain
  const intFunction = written.includes(INT_FUNCTION)
    ? `function ${INT_FUNCTION}(x) { return x + 0 < 0 ? -int(-x) : int(x) }\n`
    : ""
  if (!written.includes(RANDOM)) return { text: intFunction + written, begin: [], isAlone }
  const begin = [`${RANDOM}state=${random() % 2147483646}+1`, `${RANDOM}fresh=${random()}`]
  return { text: intFunction + randomFunctions(seconds) + written, begin, isAlone }
}

const INT_FUNCTION = "SHELL_WHOLE"

/** Begins the names that the front of a rewritten program defines. */
const RANDOM = "SHELL_CHANCE_"
/**
 * Returns `rand`, and `srand` with and without a seed, as awk functions. Without a seed `srand` takes the time, and the
 * numbers are new ones at each call.
 */
const randomFunctions = (seconds: number): string => `
function ${RANDOM}rand() { return (${RANDOM}state = (${RANDOM}state * 16807) % 2147483647) / 2147483647 }
function ${RANDOM}seed(shown, from, last) { last = ${RANDOM}shown + 0; ${RANDOM}shown = shown;
  ${RANDOM}state = (int(from < 0 ? -from : from) * 48271 + 11) % 2147483646 + 1; return last }
function ${RANDOM}srand(seed) { return ${RANDOM}seed(seed, seed) }
function ${RANDOM}renew() { return ${RANDOM}seed(${seconds}, ${RANDOM}fresh += 1) }
`

const rewriteTokens = (tokens: ReadonlyArray<string>, seconds: number, pipes: Array<string>) => {
  let written = ""
  let isPrinting = false
  let depth = 0
  let isAtStart = true
  let isAlone = true
  const formats: Array<number> = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    const end = isAtStart ? endOfNamedElement(tokens, at) : at
    if (end > at) {
      // An element that is only named exists from then on.
      const element = tokens.slice(at, end).join("")
      written += `${element} = ${element}`
      at = end - 1
      isAtStart = false
      continue
    }
    const next = skipBlanks(tokens, at + 1)
    const closed = isAtStart && token === "close" ? pipes.indexOf(textOf(tokens, next + 1) ?? "") : -1
    if (closed >= 0) {
      written += closeStatementOf(closed)
      at = skipBlanks(tokens, next + 2)
      continue
    }
    if (!isBlank(token)) isAtStart = /^[;{}\n]$/.test(token)
    if (token.startsWith('"') && /\bprintf[ \t]*\(?[ \t]*$/.test(written)) formats.push(written.length)
    if (token === "print" || token === "printf") [isPrinting, depth] = [true, 0]
    else if (/^[;{}\n]$/.test(token)) isPrinting = false
    else if (token === "(") depth++
    else if (token === ")") depth--
    const isRedirecting = isPrinting && depth === 0
    if (isRedirecting && /^(>>?|\|)$/.test(token)) isAlone = false
    const command = isRedirecting && token === "|" ? textOf(tokens, next) : undefined
    if (command !== undefined) {
      if (!pipes.includes(command)) pipes.push(command)
      written += `> ${fileOf(pipes.indexOf(command))}`
      at = next
    } else if (isRedirecting && (token === ">" || token === ">>")) {
      const parts = partsOf(tokens, next)
      const file = tokens.slice(next, parts.end).join("").trim()
      at = parts.end - 1
      if (file === '"/dev/stdout"') written = written.trimEnd()
      else written += parts.count > 1 && parts.closed ? `${token} (${file})` : `${token} ${file}`
    } else if (/^\$\w/.test(token) && (tokens[next] === "^" || tokens[next] === "**")) {
      // The interpreter reads `$2^2` as the field whose number is a power.
      written += `(${token})`
    } else if (token === "length" && tokens[next] !== "(") {
      // The interpreter reads a comma behind `length` as an argument.
      written += "length($0)"
    } else if (tokens[next] === "(" && token === "int") {
      written += INT_FUNCTION
    } else if (tokens[next] === "(" && /^(s?rand|systime)$/.test(token)) {
      const end = skipBlanks(tokens, next + 1)
      const called = token === "srand" && tokens[end] === ")" ? "renew" : token
      if (token === "systime" && tokens[end] === ")") [written, at] = [`${written}(${seconds})`, end]
      else written += token === "systime" ? token : RANDOM + called
    } else written += token
  }
  return { written, isAlone, formats }
}

/** Marks the numbers of a format that can have a power of ten: the interpreter shows 1e-10 as `1e-1`. */
const markNumbers = (program: string, at: number): string => {
  const [format] = /^"(?:\\.|[^"\\])*"/s.exec(program.slice(at))!
  const marked = format.replace(/%%|%([-+ 0#]*\d*(?:\.\d*)?[eEgG])/g, (all, how?: string) =>
    how === undefined ? all : markFormat(how)
  )
  return program.slice(0, at) + marked + program.slice(at + format.length)
}

/** Returns the text of the literal at a place; undefined for any other token. */
const textOf = (tokens: ReadonlyArray<string>, at: number): string | undefined =>
  /^"(.*)"$/s.exec(tokens[skipBlanks(tokens, at)] ?? "")?.[1]?.replace(/\\(["\\])/g, "$1")

/** Returns the end of a statement that only names an element, `name[...]`; `at` for any other statement. */
const endOfNamedElement = (tokens: ReadonlyArray<string>, at: number): number => {
  if (!/^[A-Za-z_]\w*$/.test(tokens[at]!) || tokens[at + 1] !== "[") return at
  const end = tokens.indexOf("]", at) + 1
  const isSimple = end > 0 && !tokens.slice(at + 2, end).includes("[")
  return isSimple && /^[;}\n]$/.test(tokens[skipBlanks(tokens, end)] ?? "") ? end : at
}

/** Finds the texts, fields and names side by side that make a file name. The interpreter takes only the first one. */
const partsOf = (tokens: ReadonlyArray<string>, begin: number) => {
  let end = begin
  let count = 0
  for (let at = begin; at < tokens.length; at = skipBlanks(tokens, at + 1)) {
    if (!/^["$A-Za-z_]/.test(tokens[at]!) || tokens[at + 1] === "(") break
    end = at + 1
    count++
  }
  const next = tokens[skipBlanks(tokens, end)]
  return { end, count, closed: next === undefined || /^[;}\n#]/.test(next) }
}
