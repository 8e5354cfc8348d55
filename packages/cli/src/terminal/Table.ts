/**
 * Renders rows as aligned columns for people; programs use `--json`. Replaces control characters, so texts of others
 * cannot control the terminal.
 */

/** Separates columns by two spaces; `right` names the right-aligned columns. The last column is not padded. */
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

/** Renders `name   value`, one line each; drops null values. */
export const pairs = (entries: ReadonlyArray<readonly [string, string | null]>): string => {
  const shown = entries.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value)}`).join("\n")
}

/** Returns the text as one line without control characters. */
export const oneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, (found) => (found.includes("\n") ? " \u23ce " : " "))

/** Returns at most `length` characters, with an ellipsis if the text is cut. */
export const clip = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}\u2026`
