/** Speech from one upstream: a file of the asked format, or nothing. */
import type { SpeechFormat, SpeechTask } from "@sluice/domain/models/MediaProvider"
import { Effect } from "effect"
import { bodyText } from "../upstream/BodyText.ts"
import { callFailed } from "../upstream/CallFailed.ts"
import { checked } from "../upstream/Reply.ts"
import type { Call } from "../upstream/Upstreams.ts"

/** Of a character that is spoken as slowly as can be asked for, uncompressed. */
const BYTES_PER_CHARACTER = 64 * 1024
const MORE_BYTES = 1024 * 1024
const MAX_BYTES = 256 * 1024 * 1024

export const speechCall =
  (task: SpeechTask): Call<Uint8Array, never> =>
  (lease) =>
    Effect.suspend(() => {
      const { omit, model } = lease.upstream
      const { format, input, instructions, speed, voice } = task
      const fields = {
        model,
        input,
        voice,
        response_format: format,
        speed: speed === 1 ? undefined : speed,
        instructions
      }
      const exchange = lease.send({
        method: "POST",
        path: "/audio/speech",
        accept: "*/*",
        body: bodyText(fields, omit),
        mostBytes: Math.min(MAX_BYTES, input.length * BYTES_PER_CHARACTER + MORE_BYTES)
      })
      return Effect.flatMap(checked(exchange, lease), () => {
        // A page or an error in place of a sound.
        if (/^(text\/|application\/json)/i.test(exchange.header("content-type") ?? "")) {
          return Effect.fail(callFailed("malformed"))
        }
        return Effect.filterOrFail(
          exchange.whole,
          (bytes) => isOf(format, bytes),
          // A sound of another format is what this server can do.
          (bytes) => callFailed(SOUNDS.some((other) => isOf(other, bytes)) ? "unserved" : "malformed")
        )
      })
    })

const SOUNDS = ["wav", "mp3"] as const

const isOf = (format: SpeechFormat, bytes: Buffer): boolean => {
  const start = bytes.toString("latin1", 0, 4)
  switch (format) {
    case "wav":
      return start === "RIFF"
    case "mp3":
      // A tag, or the eleven bits with which each frame begins.
      return start.startsWith("ID3") || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0)
    case "pcm":
      return bytes.length > 0 && start !== "RIFF" && !start.startsWith("ID3")
  }
}
