/** A text that a regular expression matches as a whole, of a length that is asked for. */
import { between, pick } from "./Draws.ts"
import { SchemaUnsupported, type Work } from "./JsonSchemas.ts"
import { type Part, readPattern } from "./PatternReader.ts"

/** Repetitions beyond those that must be, and characters beyond the shortest text, where no length asks for more. */
const [MORE, SLACK] = [5, 60]
/** What a character of a pattern is worth: to read a set is to look through all letters. */
const READING = 8

/** Drawn by `key`; but whether there is one, of this length and for this work, depends on the pattern alone. */
export const patternText = (
  pattern: string,
  [least, most]: readonly [least: number, most: number],
  key: number,
  work: Work
): string => {
  work.spend(READING * pattern.length)
  const whole = readPattern(pattern)
  if (whole.least > most || whole.most < least) throw noLength()
  work.spend(Math.max(least, whole.least))
  let drawn = 0
  /** Characters beyond the shortest text that it must have, and may have. */
  let need = least - whole.least
  const growing = need > 0
  let room = Math.min(most - whole.least, growing ? Infinity : SLACK)
  const grow = (by: number) => {
    room -= by
    need -= by
  }
  const chosenOf = (options: ReadonlyArray<Part>, shortest: number): Part => {
    const fitting = options.filter((option) => option.least - shortest <= room)
    return growing
      ? fitting.reduce((longest, option) => (option.most > longest.most ? option : longest))
      : pick(key, drawn++, fitting)
  }
  const textOf = (part: Part): string => {
    switch (part.kind) {
      case "one":
        return pick(key, drawn++, part.chars)
      case "all":
        return part.parts.map(textOf).join("")
      case "any": {
        const chosen = chosenOf(part.options, part.least)
        grow(chosen.least - part.least)
        return textOf(chosen)
      }
      case "times": {
        const { from, part: each, to } = part
        // All others of it are empty.
        if (each.least === 0) return to > 0 ? textOf(each) : ""
        const possible = Math.min(to - from, Math.floor(room / each.least))
        const more = growing
          ? Math.min(possible, Math.ceil(Math.max(0, need) / each.least))
          : between(key, drawn++, 0, Math.min(possible, MORE))
        grow(more * each.least)
        let text = ""
        for (let i = 0; i < from + more; i++) text += textOf(each)
        return text
      }
    }
  }
  const text = textOf(whole)
  if (need > 0) throw noLength()
  return text
}

const noLength = () => new SchemaUnsupported({ message: "no text of its pattern has its length" })
