/** `SoundProbe` in a worker thread, bounded in time and memory. */
import { SoundProbe, SoundUnreadable } from "@sluice/domain/inference/audio/SoundProbe"
import { Effect, Layer } from "effect"
import { makeWorkThread } from "../threads/WorkThread.ts"
import type { SoundFacts } from "./SoundFile.ts"

const LIMITS = { limitMs: 10_000, maxWaiting: 64, maxMemoryMb: 256 }
/** 24 hours; a longer duration means that the file is wrong. */
const MAX_DURATION_MS = 86_400_000

export const layer = Layer.effect(
  SoundProbe,
  Effect.gen(function* () {
    const thread = yield* makeWorkThread<string, SoundFacts>(new URL("./SoundThread.ts", import.meta.url), LIMITS)
    return {
      durationMs: (path) =>
        Effect.matchEffect(thread.run(path), {
          onFailure: ({ reason }) =>
            Effect.fail(new SoundUnreadable({ reason: reason === "busy" ? "busy" : "too_long" })),
          onSuccess: ({ durationMs }) => {
            if (durationMs === undefined) return Effect.fail(new SoundUnreadable({ reason: "unknown_format" }))
            if (durationMs > MAX_DURATION_MS) return Effect.fail(new SoundUnreadable({ reason: "too_long" }))
            return Effect.succeed(durationMs)
          }
        })
    }
  })
)
