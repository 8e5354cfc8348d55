/**
 * Bytes that are handed on as they come, with what a client needs to show progress and to go on after a cut. A reader that
 * stops reading holds the producer up, and is dropped after a while.
 */
import type { VideoBytes } from "@sluice/domain/models/MediaProvider"
import { Cause, Effect, Stream } from "effect"
import type { ServerResponse } from "node:http"
import { dropSlowReader } from "./SlowReader.ts"

/** Writes the answer to the end; what breaks on the way closes the connection, so that nobody takes a part for the whole. */
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
    const written = Stream.runForEach(bytes, (chunk) => writeOne(response, chunk))
    const whole = Effect.andThen(
      written,
      Effect.sync(() => void response.end())
    )
    return Effect.raceFirst(whole, dropSlowReader(response)).pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.sync(() => response.destroy()),
          Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.logWarning("Bytes broke off", cause)
        )
      )
    )
  })

/** Returns when there is room for more. */
const writeOne = (response: ServerResponse, chunk: Uint8Array): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (response.destroyed) return resume(Effect.interrupt)
    if (response.write(chunk)) return resume(Effect.void)
    const go = () => resume(response.destroyed ? Effect.interrupt : Effect.void)
    response.once("drain", go)
    response.once("close", go)
    return Effect.sync(() => {
      response.off("drain", go)
      response.off("close", go)
    })
  })
