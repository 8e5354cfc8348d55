/** Facts about a file, as `ls`, `stat` and `du` show them. */
import type { ResolvedCommandContext } from "just-bash"

export type FileStat = Awaited<ReturnType<ResolvedCommandContext["fs"]["lstat"]>>

/** Compares two names in the order of `LANG=C.UTF-8`. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const BLOCK = 4096
export const apparentSizeOf = (stat: FileStat): number => (stat.isDirectory ? BLOCK : stat.size)
/** Returns the kibibytes that a file takes on a disk of 4 KiB blocks. */
export const kibibytesOf = (stat: FileStat): number =>
  stat.isSymbolicLink ? 0 : Math.ceil(apparentSizeOf(stat) / BLOCK) * (BLOCK / 1024)

/** Returns the mode as `-rw-r--r--`. */
export const modeOf = (stat: FileStat): string => {
  const kind = stat.isDirectory ? "d" : stat.isSymbolicLink ? "l" : "-"
  const mode = stat.isSymbolicLink ? 0o777 : stat.mode
  return (
    kind +
    [...(mode & 0o777).toString(2).padStart(9, "0")].map((bit, at) => (bit === "1" ? "rwx"[at % 3] : "-")).join("")
  )
}

/** Returns a size as `512`, `1.5K` or `20M`, rounded up, with one decimal below ten. */
export const formatSize = (bytes: number): string => {
  let value = bytes
  let power = 0
  for (; value >= 1024; power++) value /= 1024
  if (power === 0) return String(bytes)
  const tenths = Math.ceil(value * 10) / 10
  return `${tenths < 10 ? tenths.toFixed(1) : Math.ceil(value)}${" KMGT"[power]}`
}
