/** The longest that one answer of a model may take. */
import { Effect } from "effect"
import { Replica } from "../database/Replica.ts"
import { UpstreamFailed } from "./ModelProvider.ts"

/** In polls of the replica: 20 minutes. Shorter than a hold lives (Metering.ts). */
export const ANSWER_LIMIT_POLLS = 1_200

/** Ends what takes longer. */
export const makeAnswerLimit = Effect.map(
  Replica,
  ({ pollMs }) =>
    <A, E, R>(answer: Effect.Effect<A, E, R>): Effect.Effect<A, E | UpstreamFailed, R> =>
      Effect.timeoutOrElse(answer, {
        duration: pollMs * ANSWER_LIMIT_POLLS,
        orElse: () => Effect.fail(new UpstreamFailed({ reason: "timeout" }))
      })
)
