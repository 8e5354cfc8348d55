/**
 * Parses `Range: bytes=...` of a request (RFC 9110). Only a single range counts; several ranges, or an invalid one,
 * mean the whole representation.
 */
import type { ByteRange } from "@sluice/domain/models/MediaProvider"

/** Digits of a number that is exact in a double. Longer numbers are beyond the end of every file. */
const MAX_DIGITS = 15

export const rangeOf = (header: string | undefined): ByteRange | undefined => {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? "")
  if (match === null) return undefined
  const [, first = "", last = ""] = match
  const number = (digits: string) => (digits.length > MAX_DIGITS ? Number.MAX_SAFE_INTEGER : Number(digits))
  if (first === "") return last === "" ? undefined : { suffix: number(last) }
  if (last !== "" && number(last) < number(first)) return undefined
  return { start: number(first), end: last === "" ? undefined : number(last) }
}
