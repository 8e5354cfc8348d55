/** `Range: bytes=...` of a request (RFC 9110): one range; several, or what is no range, mean the whole. */
import type { ByteRange } from "@sluice/domain/models/MediaProvider"

/** Digits of a number that is exact; what has more is beyond the end of anything. */
const SAFE = 15

export const rangeOf = (header: string | undefined): ByteRange | undefined => {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? "")
  if (match === null) return undefined
  const [, first = "", last = ""] = match
  const number = (digits: string) => (digits.length > SAFE ? Number.MAX_SAFE_INTEGER : Number(digits))
  if (first === "") return last === "" ? undefined : { suffix: number(last) }
  if (last !== "" && number(last) < number(first)) return undefined
  return { start: number(first), end: last === "" ? undefined : number(last) }
}
