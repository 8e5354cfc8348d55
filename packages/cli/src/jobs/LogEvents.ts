/**
 * Decodes the events of a job's log into bytes. An event carries text; bytes that are not UTF-8 appear in it as
 * replacement characters. `LogReader` fetches those bytes by their offsets, so the printed log equals the written log.
 */
import { nullable } from "@sluice/api/infra/WireFields"
import { JobStatusWire, JobWire } from "@sluice/api/jobs/JobWire"
import * as Schema from "effect/Schema"

export type LogPiece =
  /** `next` is the offset of the first byte after the text. */
  | { readonly _tag: "Log"; readonly text: string; readonly next: number }
  /** The service dropped these bytes; they cannot be read. */
  | { readonly _tag: "Gap"; readonly from: number; readonly to: number }
  | { readonly _tag: "Status"; readonly job: JobWire }
  | { readonly _tag: "End" }

const Text = Schema.Struct({ text: Schema.String })
const Gap = Schema.Struct({ from: Schema.Int, to: Schema.Int })
const End = Schema.Struct({ status: JobStatusWire, exit_code: nullable(Schema.Int) })
const decode = {
  log: Schema.decodeUnknownSync(Schema.fromJsonString(Text)),
  gap: Schema.decodeUnknownSync(Schema.fromJsonString(Gap)),
  status: Schema.decodeUnknownSync(Schema.fromJsonString(JobWire)),
  end: Schema.decodeUnknownSync(Schema.fromJsonString(End))
}

/** Decodes an event; undefined for event types of later versions. Throws if the data does not match the type. */
export const pieceOf = (event: { readonly event: string; readonly id: string | undefined; readonly data: string }) => {
  switch (event.event) {
    case "log":
      return { _tag: "Log", text: decode.log(event.data).text, next: offsetOf(event.id) } satisfies LogPiece
    case "gap":
      return { _tag: "Gap", ...decode.gap(event.data) } satisfies LogPiece
    case "status":
      return { _tag: "Status", job: decode.status(event.data) } satisfies LogPiece
    case "end":
      decode.end(event.data)
      return { _tag: "End" } satisfies LogPiece
    default:
      return undefined
  }
}

const offsetOf = (id: string | undefined): number => {
  const offset = Number(id)
  if (id === undefined || !Number.isSafeInteger(offset)) throw new Error("a log event without its offset")
  return offset
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

/** True if the text may stand for bytes other than its own UTF-8 bytes. */
export const isInexact = (text: string): boolean => text.includes("\uFFFD")

/**
 * Returns the range that holds the exact bytes of an event: from `start` if it is known, else from the earliest
 * possible byte (each replacement character stands for one to three bytes).
 */
export const rangeOf = (text: string, next: number, start: number | undefined) => {
  const from = start ?? Math.max(0, next - bytesOf(text).length)
  return { from, length: next - from }
}

/**
 * Returns the part of `bytes` that decodes to `text`: all of it, or a suffix that starts at a line; undefined if no
 * part does.
 */
export const exactBytes = (bytes: Uint8Array, text: string): Uint8Array | undefined => {
  for (let from = 0; from <= bytes.length; from++) {
    if (from > 0 && bytes[from - 1] !== 0x0a) continue
    const rest = bytes.subarray(from)
    if (decoder.decode(rest) === text) return rest
  }
  return undefined
}
