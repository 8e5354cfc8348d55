/**
 * Splits `{1..12000}`: the interpreter silently stops after 10,000 words of a range. Several ranges of that length give
 * all words. The interpreter's limit on all words still applies, and reports itself.
 */
import type { ScriptNode } from "../core/Syntax.ts"
import { walk } from "../core/Syntax.ts"

/** Words of one range that the interpreter gives. */
const MAX_RANGE_WORDS = 10_000

interface Range {
  readonly type: "Range"
  readonly start: number
  readonly end: number
  readonly step?: number
  /** As written: leading zeros set the width of all words. */
  readonly startStr?: string
  readonly endStr?: string
}

export const splitLongRanges = (script: ScriptNode): void =>
  walk(script, (node) => {
    if (node["type"] !== "BraceExpansion") return
    node["items"] = (node["items"] as ReadonlyArray<Range>).flatMap((item) =>
      isLong(item) ? splitRange(item) : [item]
    )
  })

const stepOf = (range: Range): number => Math.abs(range.step ?? 1) || 1

const isLong = (item: Range): boolean =>
  item.type === "Range" &&
  typeof item.start === "number" &&
  Math.abs(item.end - item.start) / stepOf(item) >= MAX_RANGE_WORDS

const splitRange = (range: Range): Array<Range> => {
  const towards = range.end >= range.start ? stepOf(range) : -stepOf(range)
  const count = Math.floor((range.end - range.start) / towards) + 1
  const found: Array<Range> = []
  // One part more than the interpreter's limit allows is enough to exceed the limit.
  for (let first = 0; first < Math.min(count, MAX_WORDS); first += MAX_RANGE_WORDS) {
    const start = range.start + first * towards
    const last = start + (Math.min(MAX_RANGE_WORDS, count - first) - 1) * towards
    found.push({ ...range, start, end: last })
  }
  return found
}

/** Words of one range that are split. The interpreter's limit on all words is 100,000. */
const MAX_WORDS = 100_001
