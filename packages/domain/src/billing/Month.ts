/** The UTC months in which environments count what they spent (decisions: Environments). */

/** First day of a UTC month as `YYYY-MM-01`: the key under which an environment counts what it spent. */
export const monthOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 7)}-01`

/** When the UTC month of `ms` began. */
export const monthStart = (ms: number): number => Date.parse(`${monthOf(ms)}T00:00:00.000Z`)

/** When the next UTC month begins. */
export const nextMonth = (ms: number): number => {
  const date = new Date(ms)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}
