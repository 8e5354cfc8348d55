/**
 * The program of awk, put as the interpreter reads it right: a field that is raised to a power, a file's name of several
 * parts, `/dev/stdout`, an element that is only named, `int` of what is below zero; chance and time are the machine's.
 */
import { operandsJoined } from "./AwkOperands.ts"
import { markedNumber } from "./AwkNumbers.ts"
import { pipeEnd, placeOf } from "./AwkPipes.ts"
import { behind, isBlank, tokensOf } from "./AwkTokens.ts"

export interface AwkProgram {
  readonly text: string
  /** What `BEGIN` must set before. */
  readonly begin: ReadonlyArray<string>
  /** It prints to no file or command. */
  readonly isAlone: boolean
}

/** What a program needs of the machine: Unix seconds, and a random integer. */
interface Machine {
  readonly seconds: number
  readonly random: () => number
}

/** The commands that it prints to are added to `pipes`. */
export const awkProgram = (program: string, { random, seconds }: Machine, pipes: Array<string>): AwkProgram => {
  const { formats, isAlone, written: plain } = rewritten(operandsJoined(tokensOf(program)), seconds, pipes)
  const written = isAlone ? formats.reduceRight(withMarks, plain) : plain
  const whole = written.includes(WHOLE) ? `function ${WHOLE}(x) { return x + 0 < 0 ? -int(-x) : int(x) }\n` : ""
  if (!written.includes(CHANCE)) return { text: whole + written, begin: [], isAlone }
  const begin = [`${CHANCE}state=${random() % 2147483646}+1`, `${CHANCE}fresh=${random()}`]
  return { text: whole + chanceOf(seconds) + written, begin, isAlone }
}

const WHOLE = "SHELL_WHOLE"

/** Begins the names of what the front of a program defines. */
const CHANCE = "SHELL_CHANCE_"
/** `rand`, and `srand` with and without a seed: without one it is the time, and the numbers are new ones each time. */
const chanceOf = (seconds: number): string => `
function ${CHANCE}rand() { return (${CHANCE}state = (${CHANCE}state * 16807) % 2147483647) / 2147483647 }
function ${CHANCE}seed(shown, from, last) { last = ${CHANCE}shown + 0; ${CHANCE}shown = shown;
  ${CHANCE}state = (int(from < 0 ? -from : from) * 48271 + 11) % 2147483646 + 1; return last }
function ${CHANCE}srand(seed) { return ${CHANCE}seed(seed, seed) }
function ${CHANCE}renew() { return ${CHANCE}seed(${seconds}, ${CHANCE}fresh += 1) }
`

const rewritten = (tokens: ReadonlyArray<string>, seconds: number, pipes: Array<string>) => {
  let written = ""
  let printing = false
  let depth = 0
  let begins = true
  let isAlone = true
  const formats: Array<number> = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    const end = begins ? namedUntil(tokens, at) : at
    if (end > at) {
      // An element that is only named is there from then on.
      const element = tokens.slice(at, end).join("")
      written += `${element} = ${element}`
      at = end - 1
      begins = false
      continue
    }
    const next = behind(tokens, at + 1)
    const closed = begins && token === "close" ? pipes.indexOf(textOf(tokens, next + 1) ?? "") : -1
    if (closed >= 0) {
      written += pipeEnd(closed)
      at = behind(tokens, next + 2)
      continue
    }
    if (!isBlank(token)) begins = /^[;{}\n]$/.test(token)
    if (token.startsWith('"') && /\bprintf[ \t]*\(?[ \t]*$/.test(written)) formats.push(written.length)
    if (token === "print" || token === "printf") [printing, depth] = [true, 0]
    else if (/^[;{}\n]$/.test(token)) printing = false
    else if (token === "(") depth++
    else if (token === ")") depth--
    const redirects = printing && depth === 0
    if (redirects && /^(>>?|\|)$/.test(token)) isAlone = false
    const command = redirects && token === "|" ? textOf(tokens, next) : undefined
    if (command !== undefined) {
      if (!pipes.includes(command)) pipes.push(command)
      written += `> ${placeOf(pipes.indexOf(command))}`
      at = next
    } else if (redirects && (token === ">" || token === ">>")) {
      const parts = partsOf(tokens, next)
      const file = tokens.slice(next, parts.end).join("").trim()
      at = parts.end - 1
      if (file === '"/dev/stdout"') written = written.trimEnd()
      else written += parts.count > 1 && parts.closed ? `${token} (${file})` : `${token} ${file}`
    } else if (/^\$\w/.test(token) && (tokens[next] === "^" || tokens[next] === "**")) {
      // `$2^2` of the original is the field of a power.
      written += `(${token})`
    } else if (token === "length" && tokens[next] !== "(") {
      // The original takes a comma behind it for an argument.
      written += "length($0)"
    } else if (tokens[next] === "(" && token === "int") {
      written += WHOLE
    } else if (tokens[next] === "(" && /^(s?rand|systime)$/.test(token)) {
      const end = behind(tokens, next + 1)
      const called = token === "srand" && tokens[end] === ")" ? "renew" : token
      if (token === "systime" && tokens[end] === ")") [written, at] = [`${written}(${seconds})`, end]
      else written += token === "systime" ? token : CHANCE + called
    } else written += token
  }
  return { written, isAlone, formats }
}

/** A format whose numbers with a power of ten come marked out of the interpreter, which shows 1e-10 as `1e-1`. */
const withMarks = (program: string, at: number): string => {
  const [format] = /^"(?:\\.|[^"\\])*"/s.exec(program.slice(at))!
  const marked = format.replace(/%%|%([-+ 0#]*\d*(?:\.\d*)?[eEgG])/g, (all, how?: string) =>
    how === undefined ? all : markedNumber(how)
  )
  return program.slice(0, at) + marked + program.slice(at + format.length)
}

/** What a literal says, where there is one. */
const textOf = (tokens: ReadonlyArray<string>, at: number): string | undefined =>
  /^"(.*)"$/s.exec(tokens[behind(tokens, at)] ?? "")?.[1]?.replace(/\\(["\\])/g, "$1")

/** The end of `name[...]` that is a statement of its own. */
const namedUntil = (tokens: ReadonlyArray<string>, at: number): number => {
  if (!/^[A-Za-z_]\w*$/.test(tokens[at]!) || tokens[at + 1] !== "[") return at
  const end = tokens.indexOf("]", at) + 1
  const isSimple = end > 0 && !tokens.slice(at + 2, end).includes("[")
  return isSimple && /^[;}\n]$/.test(tokens[behind(tokens, end)] ?? "") ? end : at
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
