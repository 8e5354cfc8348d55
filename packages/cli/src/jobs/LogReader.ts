/**
 * Reads a job's log to its end. After a lost connection it reconnects and resumes at the byte after the last delivered
 * one, so no byte is missing or repeated. Gives up when the service refuses the request, or cannot be reached for 5
 * minutes.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Sse from "effect/encoding/Sse"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { calling } from "../connection/Answers.ts"
import type { Connection } from "../connection/Connection.ts"
import type { Failure } from "../connection/Failure.ts"
import { AnswerStrange, isTransient, Refused, Unreachable } from "../connection/Failure.ts"
import { bytesOf, exactBytes, isInexact, type LogPiece, pieceOf, rangeOf } from "./LogEvents.ts"

export interface LogRequest {
  readonly id: string
  readonly offset: number
  /** The number of last lines to read, instead of the offset. */
  readonly tail: number | undefined
  readonly follow: boolean
}

export interface LogSink {
  readonly log: (bytes: Uint8Array, text: string, next: number) => Effect.Effect<void>
  readonly gap: (from: number, to: number) => Effect.Effect<void>
  readonly status: (job: Extract<LogPiece, { readonly _tag: "Status" }>["job"]) => Effect.Effect<void>
  /** The connection was lost; the reader tries again. */
  readonly lost: (failure: Failure) => Effect.Effect<void>
}

/** Ends when the job ends (with `follow`), or at the end of the log so far. */
export const readLog = (connection: Connection, request: LogRequest, sink: LogSink): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const reader: Reader = {
      position: request.tail === undefined ? request.offset : undefined,
      hasEnded: false,
      hasEvent: false
    }
    let lostAt: number | undefined
    for (let attempt = 0; ; attempt++) {
      reader.hasEvent = false
      const read = yield* Effect.result(readOnce(connection, request, reader, sink))
      if (reader.hasEnded || (Result.isSuccess(read) && !request.follow)) return
      const failure = Result.isFailure(read) ? read.failure : brokeOff(connection.origin)
      if (!worthRetrying(failure)) return yield* failure
      if (reader.hasEvent || lostAt === undefined) {
        yield* sink.lost(failure)
        lostAt = yield* Clock.currentTimeMillis
        attempt = 0
      }
      if ((yield* Clock.currentTimeMillis) - lostAt > GIVE_UP_AFTER_MS) return yield* failure
      yield* Effect.sleep(Duration.millis(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt)))
    }
  })

interface Reader {
  /** The next byte to read; undefined until the first event of a tail. */
  position: number | undefined
  hasEnded: boolean
  /** An event has arrived on the current connection. */
  hasEvent: boolean
}

const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 5_000
const GIVE_UP_AFTER_MS = 300_000
/** The service sends a keepalive every 15 s; three missed ones mean that the connection is dead. */
const DEAD_AFTER = Duration.seconds(50)

const brokeOff = (url: string) =>
  new Unreachable({
    url,
    reason: "the log stopped before its end",
    advice: "The job continues; read its log again later."
  })

const worthRetrying = (failure: Failure) =>
  isTransient(failure) || (failure instanceof Refused && failure.status >= 500)

const urlOf = ({ origin }: Connection, id: string) => `${origin}/api/v1/jobs/${encodeURIComponent(id)}/logs`

const readOnce = (connection: Connection, request: LogRequest, reader: Reader, sink: LogSink) =>
  Effect.gen(function* () {
    const get = HttpClientRequest.get(urlOf(connection, request.id)).pipe(
      HttpClientRequest.setHeader("accept", "text/event-stream"),
      HttpClientRequest.setUrlParams({
        ...(reader.position === undefined ? { tail: String(request.tail) } : { offset: String(reader.position) }),
        follow: String(request.follow)
      })
    )
    const response = yield* calling(connection.origin, connection.http.execute(get))
    const events = response.stream.pipe(
      Stream.timeoutOrElse({ duration: DEAD_AFTER, orElse: () => Stream.fail(brokeOff(connection.origin)) }),
      Stream.decodeText(),
      Stream.pipeThroughChannelOrFail(Sse.decode())
    )
    yield* calling(
      connection.origin,
      Stream.runForEach(events, (event) => {
        reader.hasEvent = true
        return Effect.try({
          try: () => pieceOf(event),
          catch: (cause) =>
            new AnswerStrange({
              url: connection.origin,
              reason: cause instanceof Error ? cause.message : "an event that does not decode"
            })
        }).pipe(
          Effect.flatMap((piece) =>
            piece === undefined ? Effect.void : deliver(connection, request.id, reader, sink, piece)
          )
        )
      })
    )
  })

/** Delivers one piece to the sink, then moves the position. */
const deliver = Effect.fnUntraced(function* (
  connection: Connection,
  id: string,
  reader: Reader,
  sink: LogSink,
  piece: LogPiece
) {
  switch (piece._tag) {
    case "Log": {
      const bytes = isInexact(piece.text)
        ? yield* fetchExactBytes(connection, id, piece.text, rangeOf(piece.text, piece.next, reader.position))
        : bytesOf(piece.text)
      yield* Effect.uninterruptible(sink.log(bytes, piece.text, piece.next))
      reader.position = piece.next
      return
    }
    case "Gap":
      yield* sink.gap(piece.from, piece.to)
      reader.position = piece.to
      return
    case "Status":
      return yield* sink.status(piece.job)
    case "End":
      reader.hasEnded = true
  }
})

/** Returns the bytes behind a text; the text's own bytes if the service no longer keeps the originals. */
const fetchExactBytes = Effect.fnUntraced(function* (
  connection: Connection,
  id: string,
  text: string,
  range: { readonly from: number; readonly length: number }
) {
  const get = HttpClientRequest.get(urlOf(connection, id)).pipe(
    HttpClientRequest.setUrlParams({ offset: String(range.from), follow: "false" })
  )
  const response = yield* calling(connection.origin, connection.http.execute(get))
  const bytes = new Uint8Array(range.length)
  let filled = 0
  yield* calling(
    connection.origin,
    response.stream.pipe(
      Stream.takeUntil((chunk) => {
        bytes.set(chunk.subarray(0, range.length - filled), filled)
        filled = Math.min(range.length, filled + chunk.length)
        return filled === range.length
      }),
      Stream.runDrain
    )
  )
  return Option.getOrElse(Option.fromUndefinedOr(exactBytes(bytes.subarray(0, filled), text)), () => bytesOf(text))
})
