/**
 * A studio and a probe that take no time: sound, pictures and film whose bytes follow from the task, and a length that follows from
 * the path, which is what is said in it. A month of a fleet encodes nothing; what is charged and kept is the same.
 */
import type { ImageProvider } from "@sluice/domain/models/ModelProvider"
import { SoundProbe, SoundUnreadable } from "@sluice/domain/inference/audio/SoundProbe"
import { Studio } from "@sluice/simulator/models/Studio"
import { Effect, Layer } from "effect"

const MS_PER_CHARACTER = 65
const PICTURE_MS = 3_000

export const studio = Layer.succeed(Studio, {
  render: (task) => Effect.succeed(new TextEncoder().encode(JSON.stringify(task))),
  wordsOf: (path) => Effect.succeed(path)
})

export const probe = Layer.succeed(SoundProbe, {
  durationMs: (path) =>
    path === ""
      ? Effect.fail(new SoundUnreadable({ reason: "unknown_format" }))
      : Effect.succeed(path.length * MS_PER_CHARACTER)
})

/** Pictures whose bytes follow from what was asked: files are compressed beside the event loop, in real time. */
export const pictures = (inner: ImageProvider): ImageProvider => ({
  ...inner,
  generate: (_model, request) =>
    Effect.as(Effect.sleep(PICTURE_MS), {
      format: "png",
      files: Array.from({ length: request.count }, (_, n) =>
        new TextEncoder().encode(JSON.stringify({ ...request, n }))
      )
    })
})
