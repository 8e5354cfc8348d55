/** What is known of a file, in the words of `ls`, `stat` and `du`. */
import type { ResolvedCommandContext } from "just-bash"

export type FileStat = Awaited<ReturnType<ResolvedCommandContext["fs"]["lstat"]>>

/** The order of `LANG=C.UTF-8`. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const BLOCK = 4096
export const ownSize = (stat: FileStat): number => (stat.isDirectory ? BLOCK : stat.size)
/** Kibibytes that it takes on a disk of 4 KiB blocks. */
export const blocksOf = (stat: FileStat): number =>
  stat.isSymbolicLink ? 0 : Math.ceil(ownSize(stat) / BLOCK) * (BLOCK / 1024)

/** `-rw-r--r--`. */
export const modeOf = (stat: FileStat): string => {
  const kind = stat.isDirectory ? "d" : stat.isSymbolicLink ? "l" : "-"
  const mode = stat.isSymbolicLink ? 0o777 : stat.mode
  return (
    kind +
    [...(mode & 0o777).toString(2).padStart(9, "0")].map((bit, at) => (bit === "1" ? "rwx"[at % 3] : "-")).join("")
  )
}

/** `512`, `1.5K`, `20M`: rounded up, with a decimal below ten. */
export const rounded = (bytes: number): string => {
  let value = bytes
  let power = 0
  for (; value >= 1024; power++) value /= 1024
  if (power === 0) return String(bytes)
  const tenths = Math.ceil(value * 10) / 10
  return `${tenths < 10 ? tenths.toFixed(1) : Math.ceil(value)}${" KMGT"[power]}`
}
