/** `Studio` over threads: what it renders takes seconds of a processor, and nobody else waits for it. */
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
    // A voice does not wait for a film.
    const [sounds, films] = [yield* thread, yield* thread]
    return {
      render: (task) =>
        Effect.matchEffect((task.kind === "film" ? films : sounds).run(task), {
          onFailure: failed,
          onSuccess: (answer) =>
            "bytes" in answer ? Effect.succeed(answer.bytes) : Effect.die(new Error("No bytes came"))
        }),
      wordsOf: (path) =>
        Effect.match(sounds.run({ kind: "words", path }), {
          onFailure: () => undefined,
          onSuccess: (answer) => ("words" in answer ? answer.words : undefined)
        })
    }
  })
)

/** What the simulator can't render is a fault of ours; what it has no time for is not. */
const failed = ({ fault, reason }: WorkUndone) =>
  reason === "fault"
    ? Effect.die(new Error(fault))
    : Effect.fail(new UpstreamFailed({ reason: reason === "busy" ? "overloaded" : "timeout" }))
