/**
 * Writes a job's log as plain bytes, or as server-sent events that can be resumed (decisions: GET /jobs/{id}/logs). An
 * event's id is the offset of the next byte that was not sent completely: a character cut at the end of a chunk waits
 * for its rest and is not counted, so resuming loses no byte and repeats none.
 */
import { jobToWire } from "@sluice/api/jobs/JobWire"
import type { LogEvent } from "@sluice/domain/jobs/JobLogs"
import { gapLine } from "@sluice/domain/machines/OutputLimit"
import { Duration, Stream } from "effect"

/** Longest silence on a stream of events, below the idle timeouts of usual proxies. */
const COMMENT_EVERY = Duration.seconds(15)

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const none = new Uint8Array(0)

/** Returns the bytes unchanged, with one line in place of a gap. */
export const asText = (events: Stream.Stream<LogEvent>): Stream.Stream<Uint8Array> =>
  events.pipe(
    Stream.map((event) =>
      event._tag === "Log" ? event.bytes : event._tag === "Gap" ? encoder.encode(gapLine(event)) : none
    ),
    Stream.filter((bytes) => bytes.length > 0)
  )

/** Returns the events `log`, `status`, `gap` and `end`, and a comment at least every 15 s. */
export const asEvents = (events: Stream.Stream<LogEvent>): Stream.Stream<Uint8Array> =>
  Stream.suspend(() => {
    const render = renderer()
    return events.pipe(
      Stream.map(render),
      Stream.filter((text) => text !== ""),
      Stream.merge(
        Stream.map(Stream.tick(COMMENT_EVERY), () => ": \n\n"),
        { haltStrategy: "left" }
      ),
      Stream.map((text) => encoder.encode(text))
    )
  })

const renderer = () => {
  let pending: Uint8Array = none
  /** Sends the start of a character whose rest will not come. */
  const flush = (next: number) => {
    const rest = pending
    pending = none
    return rest.length === 0 ? "" : logEvent(rest, next)
  }
  let next = 0
  return (event: LogEvent): string => {
    switch (event._tag) {
      case "Log": {
        const bytes = pending.length === 0 ? event.bytes : concat(pending, event.bytes)
        const completeBytes = wholeCharacters(bytes)
        pending = bytes.slice(completeBytes)
        next = event.next
        return completeBytes === 0 ? "" : logEvent(bytes.subarray(0, completeBytes), event.next - pending.length)
      }
      case "Gap": {
        const flushed = flush(next)
        next = event.to
        return `${flushed}id: ${event.to}\nevent: gap\ndata: ${JSON.stringify({ from: event.from, to: event.to })}\n\n`
      }
      case "Status":
        return `event: status\ndata: ${JSON.stringify(jobToWire(event.job))}\n\n`
      case "End":
        return `${flush(next)}event: end\ndata: ${JSON.stringify({ status: event.job.status, exit_code: event.job.exitCode })}\n\n`
    }
  }
}

const logEvent = (bytes: Uint8Array, next: number) =>
  `id: ${next}\nevent: log\ndata: ${JSON.stringify({ text: decoder.decode(bytes) })}\n\n`

const concat = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

/** Returns the number of bytes without a UTF-8 character that is cut at the end. */
export const wholeCharacters = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) break
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return length > back ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}
