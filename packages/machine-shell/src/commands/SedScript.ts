/** Parses a script of sed into its commands: `s/a/b/; /x/,$ { p; d }`. An error names its place in the script. */
import { Refusal } from "./Options.ts"
import { BRACKET, charCodeOf, ESCAPES, countGroups, compilePattern } from "./SedPattern.ts"

export type Address =
  | { readonly _tag: "Line"; readonly line: number }
  | { readonly _tag: "Last" }
  | { readonly _tag: "Step"; readonly first: number; readonly step: number }
  /** Undefined: the pattern that was used last. */
  | { readonly _tag: "Pattern"; readonly pattern: RegExp | undefined }
  /** The end of a range: so many lines further, or at a multiple. */
  | { readonly _tag: "Further"; readonly lines: number }
  | { readonly _tag: "Multiple"; readonly of: number }

/** A piece of a replacement: a text, a group by its number, or a change of case for the pieces behind it. */
export type Piece = string | number | { readonly changes: "U" | "L" | "u" | "l" | "E" }

export interface Substitution {
  readonly pattern: RegExp | undefined
  readonly pieces: ReadonlyArray<Piece>
  /** The number of the first match that is replaced. */
  readonly from: number
  readonly all: boolean
  readonly isPrinted: boolean
}

export interface SedCommand {
  readonly name: string
  readonly from: Address | undefined
  readonly to: Address | undefined
  readonly negated: boolean
  /** The text of `a`, `i` and `c`, the file of `r` and `w` (of `s` too), the label of `b`, the exit code of `q`. */
  readonly text: string
  readonly substitution?: Substitution | undefined
  /** The character that `y` puts in the place of each character. */
  readonly characters?: ReadonlyMap<string, string> | undefined
  /** The index of the command to which a jump goes; for `{` of the command behind its end. */
  target: number
}

export const parseSedScript = (source: string, extended: boolean): ReadonlyArray<SedCommand> => {
  const parser = new Parser(source, extended)
  try {
    return parser.script()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(`-e expression #1, char ${parser.at}: ${error.message}`)
  }
}

class Parser {
  at = 0
  readonly #source: string
  readonly #extended: boolean
  readonly #commands: Array<SedCommand> = []

  constructor(source: string, extended: boolean) {
    this.#source = source
    this.#extended = extended
  }

  script(): ReadonlyArray<SedCommand> {
    const blocks: Array<SedCommand> = []
    for (this.#take(/[\s;]*/y); this.at < this.#source.length; this.#take(/[\s;]*/y)) {
      const from = this.#address()
      const to = from !== undefined && this.#take(/\s*,\s*/y) !== undefined ? this.#address(true) : undefined
      if (to === undefined && this.#source[this.at - 1] === ",") throw new Refusal("unexpected `,'")
      this.#take(/[ \t]*/y)
      const negated = this.#take(/(?:![ \t]*)+/y) !== undefined
      const name = this.#source[this.at++] ?? ""
      if (name === "#" && from === undefined) this.#take(/[^\n]*/y)
      else if (name === "}") {
        const block = blocks.pop()
        if (block === undefined || from !== undefined) throw new Refusal("unexpected `}'")
        block.target = this.#commands.length
      } else {
        const command = { name, from, to, negated, target: 0, text: "", ...this.#rest(name) }
        this.#commands.push(command)
        if (name === "{") blocks.push(command)
      }
      if (name !== "{" && this.#take(/[ \t]*(?=$|[\n;}#])/y) === undefined)
        throw new Refusal("extra characters after command")
    }
    if (blocks.length > 0) throw new Refusal("unmatched `{'")
    const labels = new Map(this.#commands.flatMap(({ name, text }, at) => (name === ":" ? [[text, at] as const] : [])))
    for (const command of this.#commands) {
      if (!/^[btT]$/.test(command.name)) continue
      const target = command.text === "" ? this.#commands.length : labels.get(command.text)
      if (target === undefined) throw new Refusal(`can't find label for jump to \`${command.text}'`)
      command.target = target
    }
    return this.#commands
  }

  /** Reads the part of a command behind its name. */
  #rest(name: string): Partial<SedCommand> {
    if (name === "s") return this.#substitution()
    if (name === "y") return { characters: this.#characters() }
    if (/^[aic]$/.test(name)) return { text: this.#text() }
    if (/^[rRwW]$/.test(name)) return { text: this.#file() }
    if (name === ":") return { text: this.#take(/[ \t]*([^\s;]+)/y)?.[1] ?? refuse('":" lacks a label') }
    if (/^[btT]$/.test(name)) return { text: this.#take(/[ \t]*([^\s;}]*)/y)?.[1] ?? "" }
    if (/^[qQlL]$/.test(name)) return { text: this.#take(/[ \t]*(\d*)/y)?.[1] ?? "" }
    if (/^[{=dDgGhHnNpPxzF]$/.test(name)) return {}
    throw new Refusal(name === "" ? "missing command" : `unknown command: \`${name}'`)
  }

  #take(what: RegExp): RegExpExecArray | undefined {
    what.lastIndex = this.at
    const found = what.exec(this.#source)
    if (found === null) return undefined
    this.at += found[0].length
    return found
  }

  #address(isEnd = false): Address | undefined {
    const relative = isEnd ? this.#take(/([+~])(\d+)/y) : undefined
    if (relative !== undefined) {
      const count = Number(relative[2])
      return relative[1] === "+" ? { _tag: "Further", lines: count } : { _tag: "Multiple", of: count }
    }
    const line = this.#take(/(\d+)(?:~(\d+))?/y)
    if (line?.[2] !== undefined) return { _tag: "Step", first: Number(line[1]), step: Number(line[2]) }
    if (line !== undefined) return { _tag: "Line", line: Number(line[1]) }
    if (this.#take(/\$/y) !== undefined) return { _tag: "Last" }
    const delimiter = this.#take(/\/|\\([^\n\\])/y)
    if (delimiter === undefined) return undefined
    const source = this.#until(delimiter[1] ?? "/", "unterminated address regex", true)
    const flags = this.#take(/[IM]*/y)?.[0] ?? ""
    return { _tag: "Pattern", pattern: this.#pattern(source, flags) }
  }

  #pattern(source: string, flags: string): RegExp | undefined {
    const [ignoresCase, multiline] = [/i/i.test(flags), /m/i.test(flags)]
    return source === "" ? undefined : compilePattern(source, { extended: this.#extended, ignoresCase, multiline })
  }

  /** Reads up to the next delimiter that is not escaped. In a pattern a delimiter in brackets does not count. */
  #until(delimiter: string, missing: string, isPattern: boolean): string {
    let text = ""
    for (; this.at < this.#source.length; this.at++) {
      const char = this.#source[this.at]!
      if (char === delimiter) {
        this.at++
        return text
      }
      const bracket = isPattern && char === "[" ? BRACKET.exec(this.#source.slice(this.at + 1))?.[0] : undefined
      if (bracket !== undefined) {
        text += char + bracket
        this.at += bracket.length
      } else if (char === "\\") {
        const next = this.#source[++this.at] ?? ""
        text += next === delimiter ? (isPattern && /[.*[\]^$+?(){}|]/.test(next) ? `[${next}]` : next) : char + next
      } else text += char
    }
    throw new Refusal(missing)
  }

  #substitution(): Partial<SedCommand> {
    const missing = "unterminated `s' command"
    const delimiter = this.#source[this.at++] ?? refuse(missing)
    const source = this.#until(delimiter, missing, true)
    const replacement = this.#until(delimiter, missing, false)
    const flags = this.#take(/[gpiIMm0-9]*/y)?.[0] ?? ""
    const text = this.#take(/w/y) === undefined ? "" : this.#file()
    if (this.#take(/e/y) !== undefined) throw new Refusal("the e flag is not simulated")
    if (this.#take(/(?=[A-Za-z])/y) !== undefined) throw new Refusal("unknown option to `s'")
    const [pattern, pieces] = [this.#pattern(source, flags), piecesOf(replacement)]
    const groups = pattern === undefined ? 9 : countGroups(pattern)
    const none = pieces.find((piece) => typeof piece === "number" && piece > groups)
    if (none !== undefined) throw new Refusal(`invalid reference \\${String(none)} on \`s' command's RHS`)
    const substitution = {
      pattern,
      pieces,
      from: Number(/\d+/.exec(flags)?.[0] ?? 1),
      all: flags.includes("g"),
      isPrinted: flags.includes("p")
    }
    return { text, substitution }
  }

  #characters(): ReadonlyMap<string, string> {
    const missing = "unterminated `y' command"
    const delimiter = this.#source[this.at++] ?? refuse(missing)
    const read = () =>
      Array.from(this.#until(delimiter, missing, false).matchAll(/\\([^])|[^]/gu), ([one, escaped]) =>
        escaped === undefined ? one : (ESCAPES[escaped] ?? (escaped === "\\" ? escaped : one))
      )
    const [from, to] = [read(), read()]
    if (from.length !== to.length) throw new Refusal("strings for `y' command are different lengths")
    return new Map(from.map((char, at) => [char, to[at]!]))
  }

  #file(): string {
    return this.#take(/[ \t]*([^\n]+)/y)?.[1] ?? refuse("missing filename in r/R/w/W commands")
  }

  /** Reads `a text`, or `a\` and the lines behind it. A line that ends in a backslash is not the last one. */
  #text(): string {
    this.#take(/[ \t]*(?:\\[ \t]*\n|\\(?=[^\n]))?/y)
    const text = this.#take(/(?:\\[^]|[^\\\n])+/y)?.[0]
    if (text === undefined) throw new Refusal("expected \\ after `a', `c' or `i'")
    return `${text.replace(/\\([^])/g, (_, char: string) => (char === "t" ? "\t" : char))}\n`
  }
}

const piecesOf = (replacement: string): ReadonlyArray<Piece> =>
  Array.from(
    replacement.matchAll(/\\(?:x([\da-fA-F]{1,2})|o([0-7]{1,3})|d(\d{1,3})|([^]))|&|[^\\&]+/gu),
    ([whole, hex, octal, decimal, char]): Piece => {
      if (whole === "&") return 0
      if (hex !== undefined || octal !== undefined || decimal !== undefined)
        return String.fromCharCode(charCodeOf([undefined, hex, octal, decimal]))
      if (char === undefined) return whole
      if (/[0-9]/.test(char)) return Number(char)
      return /[ULulE]/.test(char) ? { changes: char as "U" } : (ESCAPES[char] ?? char)
    }
  )

const refuse = (message: string): never => {
  throw new Refusal(message)
}
