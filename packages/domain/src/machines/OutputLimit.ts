/**
 * The 10 MB rule of stored output, as pure functions (interface: Limits; decisions: Jobs, logs).
 *
 * Output is addressed by the byte offsets of all that the command wrote. Up to LIMIT every byte is kept; past it the first
 * HEAD and the newest TAIL bytes are, and what lies between is a gap. Nothing here depends on how the bytes were cut into
 * chunks.
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

/** The bytes that are dropped for good once `total` were written; undefined while all are kept. */
export const gapOf = (total: number, { limit, head }: Limits = limits): Range | undefined =>
  total <= limit ? undefined : { from: head, to: total - (limit - head) }

/** The one line that stands for a gap in a text. */
export const gapLine = (gap: Range): string => `\n[... ${gap.to - gap.from} bytes dropped ...]\n`

/**
 * Which bytes may be deleted from the store: those of the gap that no live reader still has ahead. `slowest` is the position of
 * the reader furthest behind, or undefined when nobody reads.
 */
export const prunable = (total: number, slowest: number | undefined, rule: Limits = limits): Range | undefined => {
  const gap = gapOf(total, rule)
  if (gap === undefined) return undefined
  const to = Math.min(gap.to, slowest ?? gap.to)
  return to > gap.from ? { from: gap.from, to } : undefined
}

export interface Chunk {
  readonly start: number
  readonly bytes: Uint8Array
}

/** The part of a chunk from `position` on; undefined when nothing is left of it. */
export const from = (chunk: Chunk, position: number): Chunk | undefined => {
  const skip = Math.max(0, position - chunk.start)
  return skip >= chunk.bytes.length ? undefined : { start: chunk.start + skip, bytes: chunk.bytes.subarray(skip) }
}

/** The part of a chunk before `position`; undefined when nothing is left of it. */
export const before = (chunk: Chunk, position: number): Chunk | undefined => {
  const length = Math.min(chunk.bytes.length, position - chunk.start)
  return length <= 0 ? undefined : { start: chunk.start, bytes: chunk.bytes.subarray(0, length) }
}
