/**
 * Streams bytes to a client as they arrive, with the headers for progress and for resuming after a cut (`Range`).
 * Backpressure of a slow reader reaches the producer; a reader that stops reading is disconnected after a while.
 */
import type { VideoBytes } from "@sluice/domain/models/MediaProvider"
import { Cause, Effect, Stream } from "effect"
import type { ServerResponse } from "node:http"
import { dropSlowReader } from "./SlowReader.ts"

/**
 * Writes the response to its end. A failure on the way closes the connection, so that no client takes a part for the
 * whole.
 */
export const sendBytes = (
  response: ServerResponse,
  answer: VideoBytes & { readonly partial: boolean; readonly contentType: string },
  headers: Readonly<Record<string, string>>
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { bytes, contentType, end, partial, size, start } = answer
    response.writeHead(partial ? 206 : 200, {
      ...headers,
      "content-type": contentType,
      "content-length": end - start,
      "accept-ranges": "bytes",
      ...(partial ? { "content-range": `bytes ${start}-${end - 1}/${size}` } : {})
    })
    const writes = Stream.runForEach(bytes, (chunk) => writeOne(response, chunk))
    const complete = Effect.andThen(
      writes,
      Effect.sync(() => void response.end())
    )
    return Effect.raceFirst(complete, dropSlowReader(response)).pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.sync(() => response.destroy()),
          Cause.hasInterruptsOnly(cause)
            ? Effect.interrupt
            : Effect.logWarning("Sending the bytes of a response failed", cause)
        )
      )
    )
  })

/** Returns when the response accepts more bytes. */
const writeOne = (response: ServerResponse, chunk: Uint8Array): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (response.destroyed) return resume(Effect.interrupt)
    if (response.write(chunk)) return resume(Effect.void)
    const resumeWrite = () => resume(response.destroyed ? Effect.interrupt : Effect.void)
    response.once("drain", resumeWrite)
    response.once("close", resumeWrite)
    return Effect.sync(() => {
      response.off("drain", resumeWrite)
      response.off("close", resumeWrite)
    })
  })
