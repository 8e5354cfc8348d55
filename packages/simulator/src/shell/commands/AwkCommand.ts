/**
 * awk, whose program is put as the interpreter's own one reads it: a field that is raised to a power, a file's name of
 * several parts, `/dev/stdout`, an element that is only named, separators that are given as arguments, the program of
 * `-f`, `int` of what is below zero. Chance and time are the machine's; the original would ask the host. Numbers with a
 * power of ten come marked out of it: it prints 1e-10 as `1e-1`.
 */
import { defineCommand } from "just-bash"
import type { Command } from "just-bash"
import { general } from "../General.ts"
import { fail } from "../ShellSession.ts"
import type { ShellSession } from "../ShellSession.ts"
import { withProgram } from "./Options.ts"

const VALUES: Readonly<Record<string, number>> = { "-F": 1, "-v": 1, "-f": 1 }
const SEPARATORS = /^(OFS|ORS|FS|RS|OFMT)=(.*)$/s

export const awkCommand = (session: ShellSession): Command =>
  defineCommand("awk", async (all, context) => {
    const begin: Array<string> = []
    const args: Array<string> = []
    const programs: Array<string> = []
    const assign = (assignment: string) => {
      const [, name, text] = SEPARATORS.exec(assignment) ?? []
      if (name === undefined) args.push("-v", assignment)
      else begin.push(`${name}="${text!.replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`)
    }
    let at = 0
    for (; at < all.length && /^-./.test(all[at]!) && all[at] !== "--"; at++) {
      const arg = all[at]!
      const valued = arg in VALUES
      const value = valued ? (all[++at] ?? "") : arg.slice(2)
      if (arg.startsWith("-v")) assign(value)
      else if (arg.startsWith("-f")) {
        const program = await context.fs.readFile(context.fs.resolvePath(context.cwd, value)).catch(() => undefined)
        if (program === undefined) return fail(`awk: cannot open ${value} (No such file or directory)`, 2)
        programs.push(program)
      } else args.push(...(valued ? [arg, value] : [arg]))
    }
    const rest = all.slice(at)
    // What is assigned in front of the first file is so from the beginning.
    while (/^[A-Za-z_]\w*=/.test(rest[programs.length > 0 ? 0 : 1] ?? ""))
      assign(rest.splice(programs.length > 0 ? 0 : 1, 1)[0]!)
    if (programs.length > 0) rest.unshift(programs.join("\n"))
    const seconds = Math.floor(session.clock.now / 1000)
    const pipes: Array<string> = []
    const result = await context.origCommand!(
      withProgram([...args, ...rest], VALUES, (program) => {
        const { isAlone, written } = awkProgram(program, seconds, pipes)
        const chance = written.includes(CHANCE)
        // What it writes elsewhere is not seen here.
        if (isAlone && !all.some((arg) => arg.includes("OFMT"))) begin.unshift(`OFMT="${MARKED}"`)
        const whole = written.includes(WHOLE) ? `function ${WHOLE}(x) { return x + 0 < 0 ? -int(-x) : int(x) }\n` : ""
        if (chance)
          begin.push(`${CHANCE}state=${session.random() % 2147483646}+1`, `${CHANCE}fresh=${session.random()}`)
        return `${whole}${chance ? chanceOf(seconds) : ""}${begin.length === 0 ? "" : `BEGIN{${begin.join(";")}} `}${written}`
      })
    )
    let { stdout, stderr } = result
    stdout = stdout.replace(SHOWN, (_, number: string) => general(Number(number)))
    for (const [at, command] of pipes.entries()) {
      const place = placeOf(at)
      const stdin = await context.fs.readFile(place, "binary").catch(() => undefined)
      if (stdin === undefined) continue
      await context.fs.rm(place)
      const { cwd, exportedEnv: env = {}, signal } = context
      const read = await context.exec!(command, { cwd, env, stdin, stdinKind: "bytes", signal: signal! })
      stdout += read.stdout
      stderr += read.stderr
    }
    return { ...result, stdout, stderr }
  })

/** What is printed to a command lies here until the program is through. */
const placeOf = (pipe: number): string => `/proc/self/fd/.awk${pipe}`

/** What a number is printed as, for `SHOWN` to find. */
const MARKED = "\u0001%.17e\u0002"
// oxlint-disable-next-line no-control-regex
const SHOWN = /\u0001([-+\d.e]+)\u0002/g
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

/** `isAlone`: it prints to no file or command; the commands are added to `pipes`. */
const awkProgram = (
  program: string,
  seconds: number,
  pipes: Array<string>
): { readonly written: string; readonly isAlone: boolean } => {
  const tokens = tokensOf(program)
  let written = ""
  let printing = false
  let depth = 0
  let begins = true
  let isAlone = !program.includes("OFMT")
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
    if (!isBlank(token)) begins = /^[;{}\n]$/.test(token)
    if (token === "print" || token === "printf") [printing, depth] = [true, 0]
    else if (/^[;{}\n]$/.test(token)) printing = false
    else if (token === "(") depth++
    else if (token === ")") depth--
    const next = behind(tokens, at + 1)
    if (printing && depth === 0 && /^(>>?|\|)$/.test(token)) isAlone = false
    const command = printing && depth === 0 && token === "|" ? LITERAL.exec(tokens[next] ?? "")?.[1] : undefined
    if (command !== undefined) {
      const name = command.replace(/\\(["\\])/g, "$1")
      if (!pipes.includes(name)) pipes.push(name)
      written += `> "${placeOf(pipes.indexOf(name))}"`
      at = next
    } else if (printing && depth === 0 && (token === ">" || token === ">>")) {
      const parts = partsOf(tokens, next)
      const file = tokens.slice(next, parts.end).join("").trim()
      at = parts.end - 1
      if (file === '"/dev/stdout"') written = written.trimEnd()
      else written += parts.count > 1 && parts.closed ? `${token} (${file})` : `${token} ${file}`
    } else if (/^\$\w/.test(token) && (tokens[next] === "^" || tokens[next] === "**") && tokens[next + 1] !== "=") {
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
  return { written, isAlone }
}

const LITERAL = /^"(.*)"$/s

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

const behind = (tokens: ReadonlyArray<string>, from: number): number => {
  let at = from
  while (at < tokens.length && isBlank(tokens[at]!)) at++
  return at
}

const isBlank = (token: string): boolean => /^[ \t]+$|^\\\n$/.test(token)
