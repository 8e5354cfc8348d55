/**
 * Parses regular expressions into the parts of a text that matches them. They come from callers, so no engine ever runs
 * them: some take an engine for ages. An expression that is not known here is refused.
 */
import { SchemaUnsupported } from "./JsonSchemas.ts"

/** A part of a pattern; `least` and `most` are the lengths of its texts. */
export type Part = { readonly least: number; readonly most: number } & (
  | { readonly kind: "one"; readonly chars: ReadonlyArray<string> }
  | { readonly kind: "all"; readonly parts: ReadonlyArray<Part> }
  | { readonly kind: "any"; readonly options: ReadonlyArray<Part> }
  | { readonly kind: "times"; readonly part: Part; readonly from: number; readonly to: number }
)

/** Code points from and to, both included. */
type Ranges = ReadonlyArray<readonly [number, number]>

const MAX_LENGTH = 1_000
const MAX_DEPTH = 30
const LAST = 0x10ffff

const digits: Ranges = [[48, 57]]
const word: Ranges = [...digits, [65, 90], [95, 95], [97, 122]]
const space: Ranges = [
  [9, 13],
  [32, 32],
  [160, 160],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff]
]
const lineEnds: Ranges = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029]
]

const inverse = (ranges: Ranges): Ranges => {
  const others: Array<readonly [number, number]> = []
  let from = 0
  for (const [low, high] of ranges.toSorted(([one], [other]) => one - other)) {
    if (low > from) others.push([from, low - 1])
    from = Math.max(from, high + 1)
  }
  return from > LAST ? others : [...others, [from, LAST]]
}

const SETS: Readonly<Record<string, Ranges>> = {
  d: digits,
  w: word,
  s: space,
  D: inverse(digits),
  W: inverse(word),
  S: inverse(space)
}
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 }

const unsupported = (what: string) =>
  new SchemaUnsupported({ message: `the keyword "pattern" is not supported with ${what}` })

export const readPattern = (pattern: string): Part => new PatternReader(pattern).whole()

class PatternReader {
  private readonly chars: ReadonlyArray<string>
  private at = 0
  private depth = 0

  constructor(pattern: string) {
    if (pattern.length > MAX_LENGTH) throw unsupported(`more than ${MAX_LENGTH} characters`)
    this.chars = [...pattern]
  }

  whole(): Part {
    const part = this.options()
    if (this.at < this.chars.length) throw unsupported('a ")" alone')
    return part
  }

  private options(): Part {
    const options = [this.sequence()]
    while (this.took("|")) options.push(this.sequence())
    return options.length === 1
      ? options[0]!
      : {
          kind: "any",
          options,
          least: Math.min(...options.map(({ least }) => least)),
          most: Math.max(...options.map(({ most }) => most))
        }
  }

  /** A text matches as a whole, so both anchors hold at its ends. Anywhere else they are refused. */
  private sequence(): Part {
    const parts: Array<Part> = []
    if (this.depth === 0) this.took("^")
    while (!this.isAtEnd()) {
      if (this.depth === 0 && this.took("$")) {
        if (this.isAtEnd()) break
        throw unsupported('"$" within')
      }
      parts.push(this.repeated(this.atom()))
    }
    return {
      kind: "all",
      parts,
      least: parts.reduce((sum, { least }) => sum + least, 0),
      most: parts.reduce((sum, { most }) => sum + most, 0)
    }
  }

  private isAtEnd(): boolean {
    const next = this.chars[this.at]
    return next === undefined || next === "|" || next === ")"
  }

  private atom(): Part {
    const char = this.next()
    if (char === "(") return this.group()
    if (char === "[") return one(this.set())
    if (char === ".") return one(inverse(lineEnds))
    if (char === "\\") return one(this.escaped())
    if ("^$*+?{}]".includes(char)) throw unsupported(`"${char}" here`)
    return one(single(char.codePointAt(0)!))
  }

  private group(): Part {
    if (this.took("?") && !this.took(":")) {
      const name = this.took("<") ? this.until(">") : undefined
      if (name === undefined || !/^\w+$/.test(name)) throw unsupported('"(?", but for groups')
    }
    if (++this.depth > MAX_DEPTH) throw unsupported(`more than ${MAX_DEPTH} groups in each other`)
    const part = this.options()
    this.depth--
    if (!this.took(")")) throw unsupported('"(" without its end')
    return part
  }

  private repeated(part: Part): Part {
    const times = this.times()
    if (times === undefined) return part
    // A lazy repetition allows the same texts.
    this.took("?")
    const [from, to] = times
    return { kind: "times", part, from, to, least: from * part.least, most: part.most === 0 ? 0 : to * part.most }
  }

  private times(): readonly [number, number] | undefined {
    if (this.took("*")) return [0, Infinity]
    if (this.took("+")) return [1, Infinity]
    if (this.took("?")) return [0, 1]
    if (!this.took("{")) return undefined
    const [, from, comma, to] = /^(\d{1,5})(?:(,)(\d{0,5}))?$/.exec(this.until("}") ?? "") ?? []
    const low = Number(from)
    const high = comma === undefined ? low : to === "" ? Infinity : Number(to)
    if (from === undefined || high < low) throw unsupported('"{" without two counts')
    return [low, high]
  }

  /** Reads a set, from behind its first bracket. */
  private set(): Ranges {
    const inverted = this.took("^")
    const ranges: Array<readonly [number, number]> = []
    while (!this.took("]")) {
      const low = this.member()
      if (this.chars[this.at] !== "-" || this.chars[this.at + 1] === "]") {
        ranges.push(...low)
        continue
      }
      this.at++
      const [from, to] = [pointOf(low), pointOf(this.member())]
      if (from === undefined || to === undefined || to < from) throw unsupported("a range of other than two characters")
      ranges.push([from, to])
    }
    return inverted ? inverse(ranges) : ranges
  }

  private member(): Ranges {
    const char = this.next()
    return char === "\\" ? this.escaped() : single(char.codePointAt(0)!)
  }

  private escaped(): Ranges {
    const char = this.next()
    const set = SETS[char]
    if (set !== undefined) return set
    const control = CONTROLS[char]
    if (control !== undefined) return single(control)
    if (char === "x" || char === "u") {
      const length = char === "x" ? 2 : 4
      const hex = this.took("{") ? (this.until("}") ?? "") : this.chars.slice(this.at, (this.at += length)).join("")
      if (/^[0-9a-fA-F]{2,6}$/.test(hex) && Number.parseInt(hex, 16) <= LAST) return single(Number.parseInt(hex, 16))
    }
    if (/[A-Za-z0-9]/.test(char)) throw unsupported(`"\\${char}"`)
    return single(char.codePointAt(0)!)
  }

  private next(): string {
    const char = this.chars[this.at++]
    if (char === undefined) throw unsupported("an end in the middle")
    return char
  }

  private took(char: string): boolean {
    if (this.chars[this.at] !== char) return false
    this.at++
    return true
  }

  private until(end: string): string | undefined {
    const to = this.chars.indexOf(end, this.at)
    if (to < 0) return undefined
    const text = this.chars.slice(this.at, to).join("")
    this.at = to + 1
    return text
  }
}

const single = (point: number): Ranges => [[point, point]]

const pointOf = (ranges: Ranges): number | undefined =>
  ranges.length === 1 && ranges[0]![0] === ranges[0]![1] ? ranges[0]![0] : undefined

const points = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)
const PRINTABLE = points(32, 126)
const ALPHANUMERIC = PRINTABLE.filter((point) => /[A-Za-z0-9]/.test(String.fromCodePoint(point)))

/**
 * Returns a part of one character: a letter or a digit if the set has any, else another printable one, else the first
 * one of a range. Never half a character.
 */
const one = (ranges: Ranges): Part => {
  const within = (among: ReadonlyArray<number>) =>
    among.filter((point) => ranges.some(([low, high]) => point >= low && point <= high))
  const firsts = () => ranges.map(([low]) => low).filter((low) => (low >= 9 && low <= 13) || low >= 160)
  const found = [() => within(ALPHANUMERIC), () => within(PRINTABLE), firsts]
    .map((of) => of())
    .find(({ length }) => length > 0)
  const chars = (found ?? []).map((point) => String.fromCodePoint(point)).filter((char) => char.isWellFormed())
  if (chars.length === 0) throw unsupported("a set without a character that can be said")
  return { kind: "one", chars, least: 1, most: 1 }
}
