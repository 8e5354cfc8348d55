/**
 * `{1..12000}`: the interpreter stops silently after 10,000 words of a range. Written as ranges of that length, one
 * behind another, it gives them all; its limit on words altogether says so when it is met.
 */
import type { ScriptNode } from "../core/Syntax.ts"
import { walk } from "../core/Syntax.ts"

const LONGEST = 10_000

interface Range {
  readonly type: "Range"
  readonly start: number
  readonly end: number
  readonly step?: number
  /** As written: zeros in front are the width of all. */
  readonly startStr?: string
  readonly endStr?: string
}

export const wholeRanges = (script: ScriptNode): void =>
  walk(script, (node) => {
    if (node["type"] !== "BraceExpansion") return
    node["items"] = (node["items"] as ReadonlyArray<Range>).flatMap((item) => (isLong(item) ? parts(item) : [item]))
  })

const stepOf = (range: Range): number => Math.abs(range.step ?? 1) || 1

const isLong = (item: Range): boolean =>
  item.type === "Range" && typeof item.start === "number" && Math.abs(item.end - item.start) / stepOf(item) >= LONGEST

const parts = (range: Range): Array<Range> => {
  const towards = range.end >= range.start ? stepOf(range) : -stepOf(range)
  const count = Math.floor((range.end - range.start) / towards) + 1
  const found: Array<Range> = []
  // One part more than the interpreter's limit allows is enough to meet it.
  for (let first = 0; first < Math.min(count, MAX_WORDS); first += LONGEST) {
    const start = range.start + first * towards
    const last = start + (Math.min(LONGEST, count - first) - 1) * towards
    found.push({ ...range, start, end: last })
  }
  return found
}

/** Words of one range that are asked for: the interpreter's limit is 100,000. */
const MAX_WORDS = 100_001
