/** The UTC months in which environments count their spending (decisions: Environments). */

/**
 * Returns the first day of the UTC month of `ms` as `YYYY-MM-01`. An environment counts its spending under this key.
 */
export const monthOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 7)}-01`

/** Returns the start of the UTC month of `ms` (ms). */
export const monthStart = (ms: number): number => Date.parse(`${monthOf(ms)}T00:00:00.000Z`)

/** Returns the start of the next UTC month (ms). */
export const nextMonth = (ms: number): number => {
  const date = new Date(ms)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}
