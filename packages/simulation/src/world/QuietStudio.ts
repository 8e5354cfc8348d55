/**
 * A studio and a probe that take no time: sound and film whose bytes follow from the task, and a length that follows from
 * the path, which is what is said in it. A month of a fleet encodes nothing; what is charged and kept is the same.
 */
import { SoundProbe, SoundUnreadable } from "@sluice/domain/inference/SoundProbe"
import { Studio } from "@sluice/simulator/models/Studio"
import { Effect, Layer } from "effect"

const MS_PER_CHARACTER = 65

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
