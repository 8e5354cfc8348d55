/** How two texts differ, as `diff` tells it: in its normal form, or unified with lines around. */
import { diffArrays } from "diff"

/** Lines that are only in one of the texts, from these places of both (counted from 0). */
export interface Change {
  readonly at: number
  readonly to: number
  readonly removed: ReadonlyArray<string>
  readonly added: ReadonlyArray<string>
}

/** More than so many lines that differ are told as one change: to look for fewer takes long. */
const MAX_EDITS = 2_000

/** Looking for so many edits, squared, is a unit of the interpreter's work. */
const EDITS_SQUARED_OF_A_UNIT = 32

/**
 * `key`: what is compared of a line; a line has its newline, where it has one. `spend` is told the work that it was, and
 * may throw.
 */
export const changesOf = (
  before: ReadonlyArray<string>,
  after: ReadonlyArray<string>,
  key: (line: string) => string,
  spend: (units: number) => void
): ReadonlyArray<Change> => {
  const [from, into] = [before.map(key), after.map(key)]
  const found = diffArrays(from, into, { maxEditLength: MAX_EDITS })
  const edits = found?.reduce((sum, { added, count, removed }) => sum + (added || removed ? count : 0), 0) ?? MAX_EDITS
  spend(Math.ceil((edits * edits) / EDITS_SQUARED_OF_A_UNIT))
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
const marked = (mark: string, lines: ReadonlyArray<string>): string =>
  lines.map((line) => `${mark}${line}${line.endsWith("\n") ? "" : NO_END}`).join("")

export const normal = (changes: ReadonlyArray<Change>): string =>
  changes
    .map(({ added, at, removed, to }) => {
      const kind = removed.length === 0 ? "a" : added.length === 0 ? "d" : "c"
      const between = kind === "c" ? "---\n" : ""
      return `${span(at, removed)}${kind}${span(to, added)}\n${marked("< ", removed)}${between}${marked("> ", added)}`
    })
    .join("")

/** Its lines, counted from 1; of none the one before. */
const span = (at: number, { length }: ReadonlyArray<string>): string =>
  length === 0 ? String(at) : length === 1 ? String(at + 1) : `${at + 1},${at + length}`

/** `around`: lines that are told before and behind a change. */
export const unified = (changes: ReadonlyArray<Change>, before: ReadonlyArray<string>, around: number): string => {
  let text = ""
  for (let first = 0, last = 0; first < changes.length; first = ++last) {
    while (last + 1 < changes.length && changes[last + 1]!.at - endOf(changes[last]!) <= 2 * around) last++
    const [begin, end] = [changes[first]!, changes[last]!]
    const from = Math.max(0, begin.at - around)
    const until = Math.min(before.length, endOf(end) + around)
    let [lines, at, gained] = ["", from, 0]
    for (const change of changes.slice(first, last + 1)) {
      lines += marked(" ", before.slice(at, change.at)) + marked("-", change.removed) + marked("+", change.added)
      at = endOf(change)
      gained += change.added.length - change.removed.length
    }
    lines += marked(" ", before.slice(at, until))
    text += `@@ -${range(from, until - from)} +${range(begin.to - (begin.at - from), until - from + gained)} @@\n${lines}`
  }
  return text
}

const endOf = ({ at, removed }: Change): number => at + removed.length

const range = (at: number, count: number): string =>
  count === 1 ? String(at + 1) : `${count === 0 ? at : at + 1},${count}`
