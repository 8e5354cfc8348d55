/**
 * Reads a job's log to its end, across lost connections: it goes on at the byte after the last one that was handed on, so
 * nothing comes twice or is missing. It gives up when the service refuses, or stays away for long.
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
  /** Instead of the offset: so many last lines. */
  readonly tail: number | undefined
  readonly follow: boolean
}

export interface LogSink {
  readonly log: (bytes: Uint8Array, text: string, next: number) => Effect.Effect<void>
  readonly gap: (from: number, to: number) => Effect.Effect<void>
  readonly status: (job: Extract<LogPiece, { readonly _tag: "Status" }>["job"]) => Effect.Effect<void>
  /** The connection was lost; it is tried again. */
  readonly lost: (failure: Failure) => Effect.Effect<void>
}

/** Ends with the job (with `follow`), or with what there is. */
export const readLog = (connection: Connection, request: LogRequest, sink: LogSink): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const reader: Reader = {
      position: request.tail === undefined ? request.offset : undefined,
      ended: false,
      heard: false
    }
    let lostAt: number | undefined
    for (let attempt = 0; ; attempt++) {
      reader.heard = false
      const read = yield* Effect.result(readOnce(connection, request, reader, sink))
      if (reader.ended || (Result.isSuccess(read) && !request.follow)) return
      const failure = Result.isFailure(read) ? read.failure : brokeOff(connection.origin)
      if (!worthRetrying(failure)) return yield* failure
      if (reader.heard || lostAt === undefined) {
        yield* sink.lost(failure)
        lostAt = yield* Clock.currentTimeMillis
        attempt = 0
      }
      if ((yield* Clock.currentTimeMillis) - lostAt > GIVE_UP_AFTER_MS) return yield* failure
      yield* Effect.sleep(Duration.millis(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt)))
    }
  })

interface Reader {
  /** The next byte wanted; unknown until the first event of a tail. */
  position: number | undefined
  ended: boolean
  /** Something came on this connection. */
  heard: boolean
}

const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 5_000
const GIVE_UP_AFTER_MS = 300_000
/** The service breaks its silence every 15 s. */
const DEAD_AFTER = Duration.seconds(50)

const brokeOff = (url: string) =>
  new Unreachable({ url, reason: "the log broke off", advice: "The job goes on; read its log again later." })

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
        reader.heard = true
        return Effect.try({
          try: () => pieceOf(event),
          catch: (cause) =>
            new AnswerStrange({ url: connection.origin, reason: cause instanceof Error ? cause.message : "an event" })
        }).pipe(
          Effect.flatMap((piece) =>
            piece === undefined ? Effect.void : handOn(connection, request.id, reader, sink, piece)
          )
        )
      })
    )
  })

/** The position moves once the piece has been handed on. */
const handOn = Effect.fnUntraced(function* (
  connection: Connection,
  id: string,
  reader: Reader,
  sink: LogSink,
  piece: LogPiece
) {
  switch (piece._tag) {
    case "Log": {
      const bytes = isInexact(piece.text)
        ? yield* exactly(connection, id, piece.text, rangeOf(piece.text, piece.next, reader.position))
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
      reader.ended = true
  }
})

/** The bytes behind a text; the text's own where they are not kept any more. */
const exactly = Effect.fnUntraced(function* (
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
