/**
 * Disconnects a reader that has stopped reading a streamed response. Backpressure already stops the producer, but
 * without this the reader would hold its connection for ever. A write counts as progress when all of it has been sent,
 * so responses are written in pieces: a reader must read one piece in 30 s.
 */
import type { ServerResponse } from "node:http"
import { Duration, Effect, Schedule, Stream } from "effect"
import { inWallTime } from "../clock/WallTime.ts"

export const PIECE_BYTES = 65_536

/** Splits a stream into chunks of at most PIECE_BYTES, each written separately. */
export const splitIntoPieces = (bytes: Stream.Stream<Uint8Array>): Stream.Stream<Uint8Array> =>
  bytes.pipe(
    Stream.flatMap((chunk) =>
      chunk.length <= PIECE_BYTES
        ? Stream.succeed(chunk)
        : Stream.fromIterable(
            Array.from({ length: Math.ceil(chunk.length / PIECE_BYTES) }, (_, i) =>
              chunk.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES)
            )
          )
    ),
    Stream.rechunk(1)
  )

/**
 * Interval of the checks, and the number of checks without progress until the reader is disconnected: 30 s in total.
 */
const PACE = { every: Duration.seconds(10), patience: 3 }

export const dropSlowReader = (response: ServerResponse, pace = PACE): Effect.Effect<void> => {
  let sent = -1
  let stuckChecks = 0
  return Effect.sync(() => {
    const { socket } = response
    const written = socket === null ? 0 : socket.bytesWritten - socket.writableLength
    stuckChecks = response.writableNeedDrain && written === sent ? stuckChecks + 1 : 0
    sent = written
    if (stuckChecks >= pace.patience) response.destroy()
  }).pipe(
    Effect.repeat({ schedule: Schedule.spaced(pace.every), until: () => response.destroyed }),
    Effect.asVoid,
    inWallTime
  )
}
