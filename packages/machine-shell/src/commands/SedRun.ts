/** Runs a script of sed on lines. */
import { Refusal } from "./Options.ts"
import { SedOutput } from "./SedOutput.ts"
import type { Address, SedCommand, Substitution } from "./SedScript.ts"
import { expandReplacement, formatVisible } from "./SedText.ts"

/** The lines of one file, or of several files as one. */
export interface SedInput {
  readonly name: string
  readonly lines: ReadonlyArray<string>
  /** True: the last line ends as the others do. */
  readonly hasEnd: boolean
}

export interface SedOptions {
  readonly quiet: boolean
  /** The end of a line: a newline, or a NUL. */
  readonly end: string
  /** Returns the content of a file for `r` or `R`; undefined for a missing file. */
  readonly read: (file: string) => string | undefined
  /** Gets the number of commands that ran since the last call. Throws when the run has used up its work. */
  readonly spend: (commands: number) => void
}

/** Characters of the pattern space and the hold space, which a script can double without end. */
const MAX_HELD = 16 * 1024 * 1024
const SPEND_EVERY = 1_024

export class SedRun {
  readonly output: SedOutput
  /** Set by `q` and `Q`; undefined while the script goes on. */
  exitCode: number | undefined
  readonly #commands: ReadonlyArray<SedCommand>
  readonly #options: SedOptions
  /** The ranges that have begun, with the line at which each ends; Infinity: a pattern ends it. */
  readonly #ranges = new Map<SedCommand, number>()
  readonly #readFrom = new Map<string, number>()
  #input: SedInput = { name: "-", lines: [], hasEnd: true }
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

  /** Runs the script on an input. `hasOwnNumbers`: its lines are numbered from 1. */
  read(input: SedInput, hasOwnNumbers: boolean): void {
    this.#input = input
    this.#at = 0
    if (hasOwnNumbers) this.#line = 0
    while (this.exitCode === undefined && this.#next()) {
      let isRepeated = true
      while (isRepeated) isRepeated = this.#cycle()
    }
  }

  /** Takes the next line as the pattern space. Returns false when there is none. */
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
    this.output.write(text, file, !this.#isLast() || this.#input.hasEnd)
  }

  #flush(): void {
    for (const text of this.#appended) this.output.write(text.replace(/\n$/, ""), "", text.endsWith("\n"))
    this.#appended = []
  }

  /** Runs all commands on the pattern space. Returns true when they begin again with the rest of it. */
  #cycle(): boolean {
    let hasSubstituted = false
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
        hasSubstituted ||= done
      } else if (name === "b" || (name === "t" && hasSubstituted) || (name === "T" && !hasSubstituted)) {
        if (name === "t") hasSubstituted = false
        index = target
      } else if (name === "T") hasSubstituted = false
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
          this.output.write(text.slice(0, -1))
        return false
      } else if (name === "q" || name === "Q") {
        this.exitCode = Number(text)
        if (name === "Q") return false
        break
      } else this.#runSimple(command)
      if (this.#pattern.length + this.#hold.length > MAX_HELD) throw new Refusal("couldn't re-allocate memory", 4)
    }
    if (!this.#options.quiet) this.#print()
    this.#flush()
    return false
  }

  /** Runs a command that does not change the order of commands. */
  #runSimple({ characters, name, text }: SedCommand): void {
    if (name === "p") this.#print()
    else if (name === "P") this.output.write(this.#pattern.split("\n", 1)[0]!)
    else if (name === "h") this.#hold = this.#pattern
    else if (name === "H") this.#hold += `\n${this.#pattern}`
    else if (name === "g") this.#pattern = this.#hold
    else if (name === "G") this.#pattern += `\n${this.#hold}`
    else if (name === "x") [this.#pattern, this.#hold] = [this.#hold, this.#pattern]
    else if (name === "z") this.#pattern = ""
    else if (name === "=") this.output.write(String(this.#line))
    else if (name === "F") this.output.write(this.#input.name)
    else if (name === "i") this.output.write(text.slice(0, -1))
    else if (name === "a") this.#appended.push(text)
    else if (name === "r") this.#appended.push(...[this.#options.read(text) ?? []].flat())
    else if (name === "R") this.#appended.push(...this.#nextOf(text))
    else if (name === "w") this.#print(this.#pattern, text)
    else if (name === "W") this.output.write(this.#pattern.split("\n", 1)[0]!, text)
    else if (name === "l") this.output.write(formatVisible(this.#pattern, text === "" ? 70 : Number(text)))
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
    // The last line of a range by number may have passed while its command was skipped.
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
    const pattern = this.#patternToUse(address.pattern)
    pattern.lastIndex = 0
    return pattern.test(this.#pattern)
  }

  #patternToUse(pattern: RegExp | undefined): RegExp {
    const used = pattern ?? this.#lastPattern
    if (used === undefined) throw new Refusal("no previous regular expression")
    this.#lastPattern = used
    return used
  }

  #substitute({ all, from, pattern, pieces, isPrinted }: Substitution, file: string): boolean {
    const used = this.#patternToUse(pattern)
    let [text, end, count] = ["", 0, 0]
    for (const match of this.#pattern.matchAll(used)) {
      // An empty match directly behind another match does not count.
      if (match[0] === "" && match.index === end && count > 0) continue
      count++
      if (count >= from && (all || count === from)) {
        text += this.#pattern.slice(end, match.index) + expandReplacement(pieces, match)
      } else text += this.#pattern.slice(end, match.index + match[0].length)
      end = match.index + match[0].length
      if (!all && count >= from) break
    }
    if (count < from) return false
    this.#pattern = text + this.#pattern.slice(end)
    if (isPrinted) this.#print()
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
