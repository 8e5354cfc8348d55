/**
 * Finds the changes between two texts, and formats them as `diff` does: in its normal form, or unified with lines of
 * context.
 */
import { diffArrays } from "diff"

/** Lines that only one of the texts has, with their places in both texts (counted from 0). */
export interface Change {
  readonly at: number
  readonly to: number
  readonly removed: ReadonlyArray<string>
  readonly added: ReadonlyArray<string>
}

/** With more differing lines than this the whole text is one change: the search takes the square of their number. */
const MAX_EDITS = 2_000

/** The square of the edits that cost one unit of the interpreter's work. */
const EDITS_SQUARED_PER_UNIT = 32

/**
 * Returns the changes. `key` returns the part of a line that is compared; a line includes its newline, if it has one.
 * `spend` gets the units of work that the search took, and may throw.
 */
export const findChanges = (
  before: ReadonlyArray<string>,
  after: ReadonlyArray<string>,
  key: (line: string) => string,
  spend: (units: number) => void
): ReadonlyArray<Change> => {
  const [from, into] = [before.map(key), after.map(key)]
  const found = diffArrays(from, into, { maxEditLength: MAX_EDITS })
  const edits = found?.reduce((sum, { added, count, removed }) => sum + (added || removed ? count : 0), 0) ?? MAX_EDITS
  spend(Math.ceil((edits * edits) / EDITS_SQUARED_PER_UNIT))
  if (found === undefined) return [{ at: 0, to: 0, removed: before, added: after }]
  const changes: Array<Change> = []
  let [at, to] = [0, 0]
  for (let index = 0; index < found.length;) {
    const [removed, added] = [at, to]
    for (; found[index]?.removed === true || found[index]?.added === true; index++) {
      if (found[index]!.removed) at += found[index]!.count
      else to += found[index]!.count
    }
    if (at > removed || to > added)
      changes.push({ at: removed, to: added, removed: before.slice(removed, at), added: after.slice(added, to) })
    const same = found[index++]?.count ?? 0
    at += same
    to += same
  }
  return changes
}

const NO_END = "\n\\ No newline at end of file\n"
const markLines = (mark: string, lines: ReadonlyArray<string>): string =>
  lines.map((line) => `${mark}${line}${line.endsWith("\n") ? "" : NO_END}`).join("")

export const formatNormal = (changes: ReadonlyArray<Change>): string =>
  changes
    .map(({ added, at, removed, to }) => {
      const kind = removed.length === 0 ? "a" : added.length === 0 ? "d" : "c"
      const between = kind === "c" ? "---\n" : ""
      return `${formatSpan(at, removed)}${kind}${formatSpan(to, added)}\n${markLines("< ", removed)}${between}${markLines("> ", added)}`
    })
    .join("")

/** Returns the numbers of the lines, counted from 1; for no lines the number of the line before. */
const formatSpan = (at: number, { length }: ReadonlyArray<string>): string =>
  length === 0 ? String(at) : length === 1 ? String(at + 1) : `${at + 1},${at + length}`

/** Returns the changes in unified form. `contextLines`: lines in front of and behind a change. */
export const formatUnified = (
  changes: ReadonlyArray<Change>,
  before: ReadonlyArray<string>,
  contextLines: number
): string => {
  let text = ""
  for (let first = 0, last = 0; first < changes.length; first = ++last) {
    while (last + 1 < changes.length && changes[last + 1]!.at - endOf(changes[last]!) <= 2 * contextLines) last++
    const [begin, end] = [changes[first]!, changes[last]!]
    const from = Math.max(0, begin.at - contextLines)
    const until = Math.min(before.length, endOf(end) + contextLines)
    let [lines, at, gained] = ["", from, 0]
    for (const change of changes.slice(first, last + 1)) {
      lines +=
        markLines(" ", before.slice(at, change.at)) + markLines("-", change.removed) + markLines("+", change.added)
      at = endOf(change)
      gained += change.added.length - change.removed.length
    }
    lines += markLines(" ", before.slice(at, until))
    text += `@@ -${formatRange(from, until - from)} +${formatRange(begin.to - (begin.at - from), until - from + gained)} @@\n${lines}`
  }
  return text
}

const endOf = ({ at, removed }: Change): number => at + removed.length

const formatRange = (at: number, count: number): string =>
  count === 1 ? String(at + 1) : `${count === 0 ? at : at + 1},${count}`
