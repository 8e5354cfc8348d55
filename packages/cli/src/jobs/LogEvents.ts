/**
 * The events of a job's log, as bytes. Events carry text; where a command wrote bytes that are no UTF-8 their text shows a
 * replacement character, and the exact bytes are fetched by their offsets, so that what is printed is what was written.
 */
import { nullable } from "@sluice/api/infra/WireFields"
import { JobStatusWire, JobWire } from "@sluice/api/jobs/JobWire"
import * as Schema from "effect/Schema"

export type LogPiece =
  /** `next` is the offset of the byte after it. */
  | { readonly _tag: "Log"; readonly text: string; readonly next: number }
  /** Dropped for good. */
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

/** What an event says; undefined for kinds of a later version. Throws on data that is not of its kind. */
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

/** Whether the text may stand for other bytes than its own. */
export const isInexact = (text: string): boolean => text.includes("\uFFFD")

/**
 * Where to look for the exact bytes of an event: from its start where that is known, else from the earliest byte that it
 * can have (each replacement character stands for one to three bytes).
 */
export const rangeOf = (text: string, next: number, start: number | undefined) => {
  const from = start ?? Math.max(0, next - bytesOf(text).length)
  return { from, length: next - from }
}

/** The part of `bytes` that reads as `text`: all of them, or from the start of a line on; undefined if none does. */
export const exactBytes = (bytes: Uint8Array, text: string): Uint8Array | undefined => {
  for (let from = 0; from <= bytes.length; from++) {
    if (from > 0 && bytes[from - 1] !== 0x0a) continue
    const rest = bytes.subarray(from)
    if (decoder.decode(rest) === text) return rest
  }
  return undefined
}
