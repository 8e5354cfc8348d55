/** The longest that one answer of a model may take. */
import { Effect } from "effect"
import { Replica } from "../database/Replica.ts"
import { UpstreamFailed } from "./ModelProvider.ts"

/** Shorter than a hold lives (Metering.ts). */
export const ANSWER_LIMIT_MS = 20 * 60_000

/** Ends what takes longer. */
export const makeAnswerLimit = Effect.map(
  Replica,
  ({ scale }) =>
    <A, E, R>(answer: Effect.Effect<A, E, R>): Effect.Effect<A, E | UpstreamFailed, R> =>
      Effect.timeoutOrElse(answer, {
        duration: ANSWER_LIMIT_MS * scale,
        orElse: () => Effect.fail(new UpstreamFailed({ reason: "timeout" }))
      })
)
