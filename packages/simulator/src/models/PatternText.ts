/** Draws a text that a regular expression matches as a whole, of a given length. */
import { between, pick } from "./Draws.ts"
import { SchemaUnsupported, type Work } from "./JsonSchemas.ts"
import { type Part, readPattern } from "./PatternReader.ts"

/** Without a required length: repetitions beyond the required ones, and characters beyond the shortest text. */
const [MAX_MORE, MAX_SLACK] = [5, 60]
/** Work for a character of a pattern: a set is searched through all letters. */
const WORK_PER_CHARACTER = 8

/**
 * Returns a text drawn by `key`. The existence of such a text, and its work, depend only on the pattern and the length.
 * Throws `SchemaUnsupported`.
 */
export const patternText = (
  pattern: string,
  [least, most]: readonly [least: number, most: number],
  key: number,
  work: Work
): string => {
  work.spend(WORK_PER_CHARACTER * pattern.length)
  const whole = readPattern(pattern)
  if (whole.least > most || whole.most < least) throw noLength()
  work.spend(Math.max(least, whole.least))
  let drawn = 0
  /** Characters beyond the shortest text: `need` must be added, `room` can be added. */
  let need = least - whole.least
  const isGrowing = need > 0
  let room = Math.min(most - whole.least, isGrowing ? Infinity : MAX_SLACK)
  const grow = (by: number) => {
    room -= by
    need -= by
  }
  const chosenOf = (options: ReadonlyArray<Part>, shortest: number): Part => {
    const fitting = options.filter((option) => option.least - shortest <= room)
    return isGrowing
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
        // All further repetitions are empty.
        if (each.least === 0) return to > 0 ? textOf(each) : ""
        const possible = Math.min(to - from, Math.floor(room / each.least))
        const more = isGrowing
          ? Math.min(possible, Math.ceil(Math.max(0, need) / each.least))
          : between(key, drawn++, 0, Math.min(possible, MAX_MORE))
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
