/**
 * Masking of secret values in a stream of bytes: each byte of an occurrence becomes `*`, so offsets stay what they were.
 *
 * A value may be cut by the end of what is there so far: a tail that could be its beginning is held back until more comes
 * or the stream ends. Only values of at least MIN_BYTES are masked; shorter ones would hide ordinary text.
 */
export const MIN_BYTES = 8
const STAR = 0x2a

export interface Masked {
  readonly bytes: Uint8Array
  /** Bytes at the end that were not given, because a value may begin in them. */
  readonly heldBack: number
}

const encoder = new TextEncoder()

/** The values that are masked, as bytes, each once. */
export const needles = (values: Iterable<string>): ReadonlyArray<Uint8Array> =>
  [...new Set(values)].map((value) => encoder.encode(value)).filter((bytes) => bytes.length >= MIN_BYTES)

/** Whether as much of `needle` as there is room for stands at `at`. */
const standsAt = (bytes: Uint8Array, at: number, needle: Uint8Array): boolean => {
  const length = Math.min(needle.length, bytes.length - at)
  for (let i = 0; i < length; i++) if (bytes[at + i] !== needle[i]) return false
  return true
}

/**
 * From left to right, the longest value first, as if all came in one piece. `final`: nothing follows, hold nothing back.
 */
export const mask = (bytes: Uint8Array, values: ReadonlyArray<Uint8Array>, final: boolean): Masked => {
  if (values.length === 0 || bytes.length === 0) return { bytes, heldBack: 0 }
  const byFirst = new Map<number, Array<Uint8Array>>()
  for (const value of values) byFirst.set(value[0]!, [...(byFirst.get(value[0]!) ?? []), value])
  let out: Uint8Array | undefined
  for (let at = 0; at < bytes.length;) {
    const candidates = byFirst.get(bytes[at]!)?.filter((value) => standsAt(bytes, at, value)) ?? []
    const whole = candidates.filter((value) => value.length <= bytes.length - at)
    // One that the end cuts off may yet be there: judge from here again with what follows.
    if (!final && whole.length < candidates.length) {
      return { bytes: (out ?? bytes).subarray(0, at), heldBack: bytes.length - at }
    }
    const length = whole.reduce((longest, value) => Math.max(longest, value.length), 0)
    if (length > 0) (out ??= bytes.slice()).fill(STAR, at, at + length)
    at += Math.max(1, length)
  }
  return { bytes: out ?? bytes, heldBack: 0 }
}
