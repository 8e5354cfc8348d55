/** Rows in columns, for people; whoever parses uses `--json`. Control characters of others' texts are not passed on. */

/** Columns two blanks apart; `right` names the columns of numbers. The last column is not padded. */
export const table = (
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  right: ReadonlyArray<string> = []
): string => {
  const clean = [header, ...rows].map((row) => row.map(oneLine))
  const widths = header.map((_, at) => Math.max(...clean.map((row) => row[at]?.length ?? 0)))
  return clean
    .map((row) =>
      row
        .map((cell, at) => {
          const width = widths[at] ?? 0
          return right.includes(header[at] ?? "") ? cell.padStart(width) : cell.padEnd(width)
        })
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** `name   value`, a line each; null values are left out. */
export const pairs = (entries: ReadonlyArray<readonly [string, string | null]>): string => {
  const shown = entries.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value)}`).join("\n")
}

/** A text that can do nothing to a terminal. */
export const oneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, (found) => (found.includes("\n") ? " \u23ce " : " "))

/** At most `length` characters. */
export const clip = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}\u2026`
