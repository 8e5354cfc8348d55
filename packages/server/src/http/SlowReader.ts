/**
 * Ends a streamed answer whose reader has stopped reading. Back-pressure already stops the producer; without this a reader
 * that never reads would keep its place for ever. A write counts as progress when it has left as a whole, so answers are
 * written in pieces: who reads less than one piece in 30 s is as good as gone.
 */
import type { ServerResponse } from "node:http"
import { Duration, Effect, Schedule, Stream } from "effect"
import { inWallTime } from "../clock/WallTime.ts"

export const PIECE_BYTES = 65_536

/** The same bytes in pieces of at most PIECE_BYTES, each written by itself. */
export const inPieces = (bytes: Stream.Stream<Uint8Array>): Stream.Stream<Uint8Array> =>
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

/** How often it looks, and after how many looks without one byte leaving it gives up: 30 s. */
const PACE = { every: Duration.seconds(10), patience: 3 }

export const dropSlowReader = (response: ServerResponse, pace = PACE): Effect.Effect<void> => {
  let sent = -1
  let stuck = 0
  return Effect.sync(() => {
    const { socket } = response
    const written = socket === null ? 0 : socket.bytesWritten - socket.writableLength
    stuck = response.writableNeedDrain && written === sent ? stuck + 1 : 0
    sent = written
    if (stuck >= pace.patience) response.destroy()
  }).pipe(
    Effect.repeat({ schedule: Schedule.spaced(pace.every), until: () => response.destroyed }),
    Effect.asVoid,
    inWallTime
  )
}
