/** `Range: bytes=...` of a request (RFC 9110): one range; several, or what is no range, mean the whole. */
import type { ByteRange } from "@sluice/domain/inference/MediaProvider"

const SAFE = 15

export const rangeOf = (header: string | undefined): ByteRange | undefined => {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "")
  if (match === null) return undefined
  const [, first = "", last = ""] = match
  if (first.length > SAFE || last.length > SAFE) return undefined
  if (first === "") return last === "" ? undefined : { suffix: Number(last) }
  if (last !== "" && Number(last) < Number(first)) return undefined
  return { start: Number(first), end: last === "" ? undefined : Number(last) }
}
