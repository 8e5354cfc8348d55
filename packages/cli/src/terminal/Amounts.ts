/** Renders money, times, durations and sizes for people. */

/** Renders dollars: `$1.88`; below a dollar two significant digits: `$0.00042`. */
export const usd = (amount: number): string => {
  const sign = amount < 0 ? "-" : ""
  const absolute = Math.abs(amount)
  if (absolute === 0 || absolute >= 0.995) return `${sign}$${grouped(absolute.toFixed(2))}`
  const decimals = Math.min(9, Math.max(2, 1 - Math.floor(Math.log10(absolute))))
  return `${sign}$${absolute.toFixed(decimals)}`
}

/** `2026-11-22 15:21:16Z` */
export const time = (iso: string): string => iso.replace("T", " ").replace(/\.\d+Z$/, "Z")
export const timeOrNull = (iso: string | null): string | null => (iso === null ? null : time(iso))

/** `0.4s`, `9s`, `1m 05s`, `2h 03m`, `3d 04h`. */
export const duration = (ms: number): string => {
  if (ms < 1_000) return `${(Math.max(0, Math.floor(ms / 100)) / 10).toFixed(1)}s`
  const seconds = Math.floor(ms / 1_000)
  const [minutes, hours, days] = [60, 3_600, 86_400].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number
  ]
  if (days > 0) return `${days}d ${two(hours % 24)}h`
  if (hours > 0) return `${hours}h ${two(minutes % 60)}m`
  return minutes > 0 ? `${minutes}m ${two(seconds % 60)}s` : `${seconds}s`
}

/** Renders a time limit: `20m`, `1h 30m`, `24h`. */
export const limit = (minutes: number): string => {
  const hours = Math.floor(minutes / 60)
  const parts = [hours > 0 ? `${hours}h` : "", minutes % 60 > 0 ? `${minutes % 60}m` : ""]
  return parts.filter((part) => part !== "").join(" ")
}

/** Renders a size in decimal units: `512 bytes`, `1.5 MB`. */
export const size = (bytes: number): string => {
  if (bytes < 10_000) return `${grouped(String(bytes))} ${bytes === 1 ? "byte" : "bytes"}`
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

const two = (number: number) => String(number).padStart(2, "0")
const grouped = (digits: string) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",")
