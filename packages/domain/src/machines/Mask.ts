/**
 * Masks secret values in a stream of bytes: each byte of an occurrence becomes `*`, so that offsets do not change.
 *
 * A value may be cut by the end of the bytes so far. A tail that may be the beginning of a value is held back until
 * more bytes arrive or the stream ends. Only values of at least `MIN_CHARACTERS` are masked, because shorter ones would
 * hide ordinary text. Values and output both belong to the customer, so the work must not depend on how often they
 * almost match: it is linear in the bytes of both.
 */
import * as AhoCorasick from "./AhoCorasick.ts"

/** Code points, as people count characters (decisions: Jobs). */
export const MIN_CHARACTERS = 8
const STAR = 0x2a

const encoder = new TextEncoder()

/** Returns the values that are masked, as bytes, each once. */
export const needles = (values: Iterable<string>): ReadonlyArray<Uint8Array> =>
  [...new Set(values)].filter((value) => [...value].length >= MIN_CHARACTERS).map((value) => encoder.encode(value))

/**
 * Returns for each byte the length of the longest whole value that begins there; undefined if no value begins anywhere.
 */
const wholeValues = (bytes: Uint8Array, values: ReadonlyArray<Uint8Array>): Int32Array | undefined => {
  // The automaton finds the ends of words. On reversed bytes with reversed values it finds their beginnings.
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

/** Returns the offsets, in order, at which a value may begin that the end of the bytes cuts off. */
const cutValues = (bytes: Uint8Array, values: ReadonlyArray<Uint8Array>): ReadonlyArray<number> => {
  // At most one byte more than the text of each value is needed, to know that the value is cut.
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
 * Masks values from left to right, the longest first, as if all bytes had arrived at once. The returned bytes may be
 * shorter than `bytes`: the rest is held back, because a value may begin in it. `final`: no bytes follow, so nothing is
 * held back.
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
    // A value that the end cuts off may begin here: stop, and mask from here again with the next bytes.
    if (cuts[cut] === at) return out.subarray(0, at)
    const length = lengths[at]!
    if (length > 0) out.fill(STAR, at, at + length)
    at += Math.max(1, length)
  }
  return out
}
