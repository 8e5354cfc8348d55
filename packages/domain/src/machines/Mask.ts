/**
 * Masking of secret values in a stream of bytes: each byte of an occurrence becomes `*`, so offsets stay what they were.
 *
 * A value may be cut by the end of what is there so far: a tail that could be its beginning is held back until more comes
 * or the stream ends. Only values of at least MIN_CHARACTERS are masked; shorter ones would hide ordinary text. Values and output
 * are both a customer's, so the work does not grow with how nearly they match: it is the bytes of both, read once or twice.
 */
import * as AhoCorasick from "./AhoCorasick.ts"

/** As people count them, not bytes (decisions: Jobs). */
export const MIN_CHARACTERS = 8
const STAR = 0x2a

const encoder = new TextEncoder()

/** The values that are masked, as bytes, each once. */
export const needles = (values: Iterable<string>): ReadonlyArray<Uint8Array> =>
  [...new Set(values)].filter((value) => [...value].length >= MIN_CHARACTERS).map((value) => encoder.encode(value))

/** Of each byte the length of the longest whole value that begins there; undefined where none begins anywhere. */
const wholeValues = (bytes: Uint8Array, values: ReadonlyArray<Uint8Array>): Int32Array | undefined => {
  // Read from its end, with the values reversed, a text tells where they begin.
  const backward = AhoCorasick.make(
    values.filter((value) => value.length <= bytes.length).map((value) => value.toReversed())
  )
  let lengths: Int32Array | undefined
  let node = AhoCorasick.ROOT
  for (let at = bytes.length - 1; at >= 0; at--) {
    node = AhoCorasick.next(backward, node, bytes[at]!)
    const length = backward.longest[node]!
    if (length > 0) (lengths ??= new Int32Array(bytes.length))[at] = length
  }
  return lengths
}

/** Where values may begin that the end cuts off, in order. */
const cutValues = (bytes: Uint8Array, values: ReadonlyArray<Uint8Array>): ReadonlyArray<number> => {
  // More of a value than the text has room for need not be known.
  const forward = AhoCorasick.make(values.map((value) => value.subarray(0, bytes.length + 1)))
  const longest = values.reduce((longest, value) => Math.max(longest, value.length), 0)
  let node = AhoCorasick.ROOT
  for (let at = Math.max(0, bytes.length - longest); at < bytes.length; at++) {
    node = AhoCorasick.next(forward, node, bytes[at]!)
  }
  const cuts: Array<number> = []
  for (; node !== AhoCorasick.ROOT; node = forward.fail[node]!) {
    if (AhoCorasick.hasChildren(forward, node)) cuts.push(bytes.length - forward.depth[node]!)
  }
  return cuts
}

/**
 * From left to right, the longest value first, as if all came in one piece. What it does not answer, at the end, is held
 * back, because a value may begin in it. `final`: nothing follows, hold nothing back.
 */
export const mask = (bytes: Uint8Array, values: ReadonlyArray<Uint8Array>, final: boolean): Uint8Array => {
  if (values.length === 0 || bytes.length === 0) return bytes
  const lengths = wholeValues(bytes, values)
  const cuts = final ? [] : cutValues(bytes, values)
  if (lengths === undefined) return bytes.subarray(0, cuts[0])
  const out = bytes.slice()
  let cut = 0
  for (let at = 0; at < bytes.length;) {
    while (cut < cuts.length && cuts[cut]! < at) cut++
    // One that the end cuts off may yet be there: judge from here again with what follows.
    if (cuts[cut] === at) return out.subarray(0, at)
    const length = lengths[at]!
    if (length > 0) out.fill(STAR, at, at + length)
    at += Math.max(1, length)
  }
  return out
}
