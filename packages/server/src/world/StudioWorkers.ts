/** `Studio` in worker threads: rendering takes seconds of CPU time and must not block the event loop. */
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Studio } from "@sluice/simulator/models/Studio"
import { Effect, Layer } from "effect"
import { makeWorkThread, type WorkUndone } from "../threads/WorkThread.ts"
import type { StudioAnswer, StudioWork } from "./StudioThread.ts"

const LIMITS = { limitMs: 120_000, maxWaiting: 64, maxMemoryMb: 512 }

export const layer = Layer.effect(
  Studio,
  Effect.gen(function* () {
    const thread = makeWorkThread<StudioWork, StudioAnswer>(new URL("./StudioThread.ts", import.meta.url), LIMITS)
    // Sounds have their own thread, so that speech does not wait for a video.
    const [sounds, films] = [yield* thread, yield* thread]
    return {
      render: (task) =>
        Effect.matchEffect((task.kind === "film" ? films : sounds).run(task), {
          onFailure: toFailure,
          onSuccess: (answer) =>
            "bytes" in answer
              ? Effect.succeed(answer.bytes)
              : Effect.die(new Error("The studio thread returned no bytes"))
        }),
      wordsOf: (path) =>
        Effect.match(sounds.run({ kind: "words", path }), {
          onFailure: () => undefined,
          onSuccess: (answer) => ("words" in answer ? answer.words : undefined)
        })
    }
  })
)

/** A failure to render is a defect of the simulator; a full queue or a timeout is a failure of the upstream. */
const toFailure = ({ fault, reason }: WorkUndone) =>
  reason === "fault"
    ? Effect.die(new Error(fault))
    : Effect.fail(new UpstreamFailed({ reason: reason === "busy" ? "overloaded" : "timeout" }))
