/**
 * Reads a tar archive as PGlite writes it: files and directories with short names, in the order in which they were
 * written.
 */
export interface TarEntry {
  /** Starts with a slash and does not end with one. */
  readonly path: string
  /** Undefined for a directory. A view of the archive, not a copy. */
  readonly bytes: Uint8Array | undefined
  readonly mode: number
}

const BLOCK = 512
const DIRECTORY = 0x35

export function* entriesOf(archive: Buffer): Generator<TarEntry> {
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0;) {
    const text = (from: number, size: number) => {
      const field = archive.toString("utf8", at + from, at + from + size)
      const end = field.indexOf("\0")
      return end < 0 ? field : field.slice(0, end)
    }
    const path = text(0, 100).replace(/\/$/, "")
    const mode = Number.parseInt(text(100, 8), 8)
    const size = Number.parseInt(text(124, 12), 8) || 0
    const from = at + BLOCK
    const isDirectory = archive[at + 156] === DIRECTORY
    yield { path, mode, bytes: isDirectory ? undefined : archive.subarray(from, from + size) }
    at = from + Math.ceil(size / BLOCK) * BLOCK
  }
}
