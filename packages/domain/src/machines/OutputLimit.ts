/**
 * The 10 MB rule of stored output, as pure functions (interface: Limits; decisions: Jobs, logs).
 *
 * Output is addressed by the byte offsets of everything that the command wrote. Up to LIMIT every byte is kept. Above
 * it the first HEAD and the last TAIL bytes are kept, and the bytes between them are a gap. The rule does not depend on
 * how the bytes were cut into chunks.
 */
export const LIMIT_BYTES = 10_485_760
const HEAD_BYTES = LIMIT_BYTES / 2

export interface Limits {
  readonly limit: number
  readonly head: number
}

const limits: Limits = { limit: LIMIT_BYTES, head: HEAD_BYTES }

export interface Range {
  readonly from: number
  /** Exclusive. */
  readonly to: number
}

/** Returns the bytes that are dropped for good after `total` bytes were written; undefined while all are kept. */
export const gapOf = (total: number, { limit, head }: Limits = limits): Range | undefined =>
  total <= limit ? undefined : { from: head, to: total - (limit - head) }

/** Returns the line that replaces a gap in a text. */
export const gapLine = (gap: Range): string => `\n[... ${gap.to - gap.from} bytes dropped ...]\n`

/**
 * Returns the bytes that may be deleted from the store: those of the gap that no live reader still has to read.
 * `slowest`: the position of the slowest reader, undefined without readers.
 */
export const prunableRange = (total: number, slowest: number | undefined, rule: Limits = limits): Range | undefined => {
  const gap = gapOf(total, rule)
  if (gap === undefined) return undefined
  const to = Math.min(gap.to, slowest ?? gap.to)
  return to > gap.from ? { from: gap.from, to } : undefined
}

export interface Chunk {
  readonly start: number
  readonly bytes: Uint8Array
}

/** Returns the part of a chunk from `position` on; undefined if that is empty. */
export const chunkFrom = (chunk: Chunk, position: number): Chunk | undefined => {
  const skip = Math.max(0, position - chunk.start)
  return skip >= chunk.bytes.length ? undefined : { start: chunk.start + skip, bytes: chunk.bytes.subarray(skip) }
}

/** Returns the part of a chunk before `position`; undefined if that is empty. */
export const chunkBefore = (chunk: Chunk, position: number): Chunk | undefined => {
  const length = Math.min(chunk.bytes.length, position - chunk.start)
  return length <= 0 ? undefined : { start: chunk.start, bytes: chunk.bytes.subarray(0, length) }
}
