/** What a script of sed does with its lines. */
import { Refusal } from "./Options.ts"
import { SedOutput } from "./SedOutput.ts"
import type { Address, SedCommand, Substitution } from "./SedScript.ts"
import { replaced, shown } from "./SedText.ts"

/** The lines of one file, or of several as one. */
export interface SedInput {
  readonly name: string
  readonly lines: ReadonlyArray<string>
  /** The last one ends as the others do. */
  readonly ended: boolean
}

export interface SedOptions {
  readonly quiet: boolean
  /** What ends a line: a newline, or a NUL. */
  readonly end: string
  /** What a file has that `r` or `R` reads; undefined where there is none. */
  readonly read: (file: string) => string | undefined
  /** So many commands were carried out since; throws when it were too many. */
  readonly spend: (commands: number) => void
}

/** Characters of the two spaces; a script may double them without end. */
const MAX_HELD = 16 * 1024 * 1024
const SPEND_EVERY = 1_024

export class SedRun {
  readonly output: SedOutput
  /** Of `q`; undefined while it goes on. */
  exitCode: number | undefined
  readonly #commands: ReadonlyArray<SedCommand>
  readonly #options: SedOptions
  /** Of a range that has begun: the line that it ends at, Infinity where a pattern says so. */
  readonly #ranges = new Map<SedCommand, number>()
  readonly #readFrom = new Map<string, number>()
  #input: SedInput = { name: "-", lines: [], ended: true }
  #at = 0
  #line = 0
  #pattern = ""
  #hold = ""
  #lastPattern: RegExp | undefined
  #appended: Array<string> = []
  #spent = 0

  constructor(commands: ReadonlyArray<SedCommand>, options: SedOptions) {
    this.#commands = commands
    this.#options = options
    this.output = new SedOutput(options.end)
    for (const command of commands)
      if (command.from?._tag === "Line" && command.from.line === 0) this.#ranges.set(command, Infinity)
  }

  /** `counts`: its lines have numbers of their own. */
  read(input: SedInput, counts: boolean): void {
    this.#input = input
    this.#at = 0
    if (counts) this.#line = 0
    while (this.exitCode === undefined && this.#next()) {
      let again = true
      while (again) again = this.#cycle()
    }
  }

  /** The next line is the pattern space; whether there is one. */
  #next(): boolean {
    this.#flush()
    if (this.#at >= this.#input.lines.length) return false
    this.#pattern = this.#input.lines[this.#at++]!
    this.#line++
    return true
  }

  #isLast(): boolean {
    return this.#at >= this.#input.lines.length
  }

  #print(text = this.#pattern, file = ""): void {
    this.output.say(text, file, !this.#isLast() || this.#input.ended)
  }

  #flush(): void {
    for (const text of this.#appended) this.output.say(text.replace(/\n$/, ""), "", text.endsWith("\n"))
    this.#appended = []
  }

  /** All commands for the pattern space; whether they begin again with what is left of it. */
  #cycle(): boolean {
    let substituted = false
    for (let index = 0; index < this.#commands.length;) {
      if (++this.#spent % SPEND_EVERY === 0) this.#options.spend(SPEND_EVERY)
      const command = this.#commands[index++]!
      const { name, target, text } = command
      if (this.#selects(command) === command.negated) {
        if (name === "{") index = target
        continue
      }
      if (name === "s") {
        const done = this.#substitute(command.substitution!, text)
        substituted ||= done
      } else if (name === "b" || (name === "t" && substituted) || (name === "T" && !substituted)) {
        if (name === "t") substituted = false
        index = target
      } else if (name === "T") substituted = false
      else if (name === "d") return false
      else if (name === "D") {
        const at = this.#pattern.indexOf("\n")
        if (at < 0) return false
        this.#pattern = this.#pattern.slice(at + 1)
        this.#flush()
        return true
      } else if (name === "n" || name === "N") {
        if (this.#isLast()) break
        const before = this.#pattern
        if (name === "n" && !this.#options.quiet) this.#print()
        this.#next()
        if (name === "N") this.#pattern = `${before}\n${this.#pattern}`
      } else if (name === "c") {
        if (command.negated || command.to === undefined || !this.#ranges.has(command))
          this.output.say(text.slice(0, -1))
        return false
      } else if (name === "q" || name === "Q") {
        this.exitCode = Number(text)
        if (name === "Q") return false
        break
      } else this.#simple(command)
      if (this.#pattern.length + this.#hold.length > MAX_HELD) throw new Refusal("couldn't re-allocate memory", 4)
    }
    if (!this.#options.quiet) this.#print()
    this.#flush()
    return false
  }

  /** What changes no order of commands. */
  #simple({ characters, name, text }: SedCommand): void {
    if (name === "p") this.#print()
    else if (name === "P") this.output.say(this.#pattern.split("\n", 1)[0]!)
    else if (name === "h") this.#hold = this.#pattern
    else if (name === "H") this.#hold += `\n${this.#pattern}`
    else if (name === "g") this.#pattern = this.#hold
    else if (name === "G") this.#pattern += `\n${this.#hold}`
    else if (name === "x") [this.#pattern, this.#hold] = [this.#hold, this.#pattern]
    else if (name === "z") this.#pattern = ""
    else if (name === "=") this.output.say(String(this.#line))
    else if (name === "F") this.output.say(this.#input.name)
    else if (name === "i") this.output.say(text.slice(0, -1))
    else if (name === "a") this.#appended.push(text)
    else if (name === "r") this.#appended.push(...[this.#options.read(text) ?? []].flat())
    else if (name === "R") this.#appended.push(...this.#nextOf(text))
    else if (name === "w") this.#print(this.#pattern, text)
    else if (name === "W") this.output.say(this.#pattern.split("\n", 1)[0]!, text)
    else if (name === "l") this.output.say(shown(this.#pattern, text === "" ? 70 : Number(text)))
    else if (name === "y") this.#pattern = Array.from(this.#pattern, (char) => characters!.get(char) ?? char).join("")
  }

  #nextOf(file: string): ReadonlyArray<string> {
    const at = this.#readFrom.get(file) ?? 0
    const line = /[^\n]*\n?/.exec((this.#options.read(file) ?? "").slice(at))![0]
    this.#readFrom.set(file, at + line.length)
    return line === "" ? [] : [line.endsWith("\n") ? line : `${line}\n`]
  }

  #selects(command: SedCommand): boolean {
    const { from, to } = command
    if (from === undefined) return true
    if (to === undefined) return this.#matches(from)
    const end = this.#ranges.get(command)
    if (end === undefined) {
      if (!this.#matches(from)) return false
      const until = endOf(to, this.#line)
      if (until > this.#line && !(to._tag === "Last" && this.#isLast())) this.#ranges.set(command, until)
      return true
    }
    // A range that a line's number ends may have been left behind while its command was passed over.
    const isOver = end === Infinity ? this.#matches(to) : this.#line >= end
    if (isOver) this.#ranges.delete(command)
    return end === Infinity || this.#line <= end || this.#matches(from)
  }

  #matches(address: Address): boolean {
    if (address._tag === "Line") return this.#line === address.line
    if (address._tag === "Last") return this.#isLast()
    if (address._tag === "Step") {
      const { first, step } = address
      return step === 0 ? this.#line === first : this.#line >= first && (this.#line - first) % step === 0
    }
    if (address._tag !== "Pattern") return false
    const pattern = this.#used(address.pattern)
    pattern.lastIndex = 0
    return pattern.test(this.#pattern)
  }

  #used(pattern: RegExp | undefined): RegExp {
    const used = pattern ?? this.#lastPattern
    if (used === undefined) throw new Refusal("no previous regular expression")
    this.#lastPattern = used
    return used
  }

  #substitute({ all, from, pattern, pieces, prints }: Substitution, file: string): boolean {
    const used = this.#used(pattern)
    let [text, end, count] = ["", 0, 0]
    for (const match of this.#pattern.matchAll(used)) {
      // An empty match right behind another one is none.
      if (match[0] === "" && match.index === end && count > 0) continue
      count++
      if (count >= from && (all || count === from)) {
        text += this.#pattern.slice(end, match.index) + replaced(pieces, match)
      } else text += this.#pattern.slice(end, match.index + match[0].length)
      end = match.index + match[0].length
      if (!all && count >= from) break
    }
    if (count < from) return false
    this.#pattern = text + this.#pattern.slice(end)
    if (prints) this.#print()
    if (file !== "") this.#print(this.#pattern, file)
    return true
  }
}

const endOf = (to: Address, line: number): number => {
  if (to._tag === "Line") return to.line
  if (to._tag === "Further") return line + to.lines
  if (to._tag === "Multiple") return to.of === 0 ? line : Math.ceil(line / to.of) * to.of
  return Infinity
}
