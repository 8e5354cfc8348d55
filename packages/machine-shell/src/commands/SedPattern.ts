/** Compiles regular expressions of POSIX, basic and extended with GNU's additions, to those of JavaScript. */
import { Refusal } from "./Options.ts"

const CLASSES: Readonly<Record<string, string>> = {
  alnum: "a-zA-Z0-9",
  alpha: "a-zA-Z",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: " \\t\\n\\r\\f\\v",
  upper: "A-Z",
  xdigit: "0-9A-Fa-f"
}
/** Escapes of one character in patterns, in replacements and in `y`. */
export const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v"
}
const ANCHORS: Readonly<Record<string, string>> = {
  "<": "\\b(?=\\w)",
  ">": "\\b(?<=\\w)",
  "`": "(?<![^])",
  "'": "(?![^])"
}
/** Characters that a backslash makes operators in a basic expression, and plain characters in an extended one. */
const OPERATORS = "(){}|+?"

export interface Flags {
  readonly extended: boolean
  readonly ignoresCase?: boolean
  /** True: `^` and `$` match at each line. */
  readonly multiline?: boolean
}

export const compilePattern = (source: string, { extended, ignoresCase = false, multiline = false }: Flags): RegExp => {
  const text = new Posix(source, extended).text
  try {
    return new RegExp(text, `gu${ignoresCase ? "i" : ""}${multiline ? "m" : ""}`)
  } catch {
    throw new Refusal(`Invalid regular expression: ${source}`)
  }
}

/** Returns the number of groups of a pattern. */
export const countGroups = ({ flags, source }: RegExp): number => new RegExp(`${source}|`, flags).exec("")!.length - 1

class Posix {
  text = ""
  readonly #source: string
  #at = 0
  /** The start of the part that a repetition would repeat; undefined where there is none. */
  #atom: number | undefined = undefined
  readonly #open: Array<number> = []

  constructor(source: string, extended: boolean) {
    this.#source = source
    while (this.#at < source.length) {
      const char = source[this.#at++]!
      const next = source[this.#at] ?? ""
      if (char === "\\" && next !== "") {
        this.#at++
        if (OPERATORS.includes(next) && !extended) this.#operator(next)
        else this.#escape(next)
      } else if (char === "[") this.#add(this.#bracket())
      else if (char === ".") this.#add("[^]")
      else if (char === "*" && this.#atom !== undefined) this.#repeat("*")
      else if (char === "^" && (extended || this.#isAtStart())) this.#anchor("^")
      else if (char === "$" && (extended || this.#isAtEnd())) this.#anchor("$")
      else if (extended && OPERATORS.includes(char)) this.#operator(char)
      else this.#literal(char)
    }
    if (this.#open.length > 0) throw new Refusal("Unmatched ( or \\(")
  }

  #add(part: string): void {
    this.#atom = this.text.length
    this.text += part
  }

  #literal(char: string): void {
    // A surrogate pair is one character.
    const low = this.#source[this.#at] ?? ""
    if (/^[\ud800-\udbff][\udc00-\udfff]$/.test(char + low)) {
      this.#at++
      this.#add(char + low)
    } else this.#add(/[\^$\\.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char)
  }

  #anchor(part: string): void {
    this.text += part
    this.#atom = undefined
  }

  #repeat(how: string): void {
    if (this.#atom === undefined) return
    // A part that is repeated already is repeated as a whole.
    this.text = `${this.text.slice(0, this.#atom)}(?:${this.text.slice(this.#atom)})${how}`
  }

  #operator(char: string): void {
    if (char === "(") {
      this.#open.push(this.text.length)
      this.#anchor("(")
    } else if (char === ")") {
      const begin = this.#open.pop()
      if (begin === undefined) throw new Refusal("Unmatched ) or \\)")
      this.text += ")"
      this.#atom = begin
    } else if (char === "|") this.#anchor("|")
    else if (char === "+" || char === "?") {
      if (this.#atom === undefined) this.#literal(char)
      else this.#repeat(char)
    } else {
      const [whole, from, comma, to] = /^(\d*)(,?)(\d*)\\?\}/.exec(this.#source.slice(this.#at)) ?? []
      if (char === "}" || whole === undefined || this.#atom === undefined) return this.#literal(char)
      this.#at += whole.length
      this.#repeat(`{${from === "" ? "0" : from}${comma}${to}}`)
    }
  }

  #escape(char: string): void {
    const code = /^(?:x([\da-fA-F]{1,2})|o([0-7]{1,3})|d(\d{1,3}))/.exec(this.#source.slice(this.#at - 1))
    if (ANCHORS[char] !== undefined) this.#anchor(ANCHORS[char])
    else if (char === "b" || char === "B") this.#anchor(`\\${char}`)
    else if (/[wWsS]/.test(char)) this.#add(`\\${char}`)
    else if (/[1-9]/.test(char)) this.#add(`(?:\\${char})`)
    else if (ESCAPES[char] !== undefined) this.#literal(ESCAPES[char])
    else if (code !== null) {
      this.#at += code[0].length - 1
      this.#add(`\\u{${charCodeOf(code).toString(16)}}`)
    } else this.#literal(char)
  }

  /** Reads a bracket expression, from behind its `[`. */
  #bracket(): string {
    const rest = this.#source.slice(this.#at)
    const [whole, not, inside] = BRACKET.exec(rest) ?? []
    if (whole === undefined) throw new Refusal("unterminated address regex")
    this.#at += whole.length
    const parts = inside!.replace(PART, (part, name?: string, one?: string) => {
      if (name !== undefined) return CLASSES[name] ?? refuseClass(name)
      if (one !== undefined) return `\\u{${one.codePointAt(0)!.toString(16)}}`
      if (part.length === 2 && part[0] === "\\")
        return /[nrtfv]/.test(part[1]!) ? part : `\\\\${escapeInBracket(part[1]!)}`
      return escapeInBracket(part)
    })
    return `[${not}${parts}]`
  }

  /** True where an expression, or a part of one, begins. */
  #isAtStart(): boolean {
    return /(?:^|\\\(|\\\||\n)$/.test(this.#source.slice(0, this.#at - 1))
  }

  #isAtEnd(): boolean {
    return /^(?:$|\\\)|\\\||\n)/.test(this.#source.slice(this.#at))
  }
}

/**
 * Matches a bracket expression behind its `[`. A `]` in front is one of its characters; names stand in brackets of
 * their own.
 */
export const BRACKET = /^(\^?)(\]?(?:\[:\w+:\]|\[[.=].[.=]\]|[^\]])*)\]/su
const PART = /\[:(\w+):\]|\[[.=](.)[.=]\]|\\.|[^]/gsu

const escapeInBracket = (char: string): string =>
  /[\\\]^[&!#%,.:;<=>@`~{}()|/$*+?]/.test(char) ? `\\u{${char.codePointAt(0)!.toString(16)}}` : char

const refuseClass = (name: string): never => {
  throw new Refusal(`unknown character class: [:${name}:]`)
}

export const charCodeOf = ([, hex, octal, decimal]: ReadonlyArray<string | undefined>): number =>
  hex !== undefined ? parseInt(hex, 16) : octal !== undefined ? parseInt(octal, 8) : Number(decimal) & 255
