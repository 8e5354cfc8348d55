/**
 * A provider of models with faults: it refuses, fails, falls silent, breaks off, or says what makes no sense. What would
 * have been the answer is still the inner provider's, so that a caller who is spared gets it unchanged.
 */
import type { ChatRequest } from "@sluice/domain/inference/Chat"
import type { Model, ModelProviderService } from "@sluice/domain/inference/ModelProvider"
import { UpstreamFailed } from "@sluice/domain/inference/ModelProvider"
import { Stream } from "effect"
import { malformed } from "./MalformedAnswers.ts"
import type { Strikes } from "./Strikes.ts"

export interface FaultyModelsOptions {
  /** The stable name of a question; the model's id where it has none. */
  readonly subjectOf?: (request: ChatRequest) => string | undefined
}

/** How many events of an answer arrive before it hangs or is cut: from, to. */
const EVENTS_BEFORE = [0, 12] as const

export const faultyModels = (
  inner: ModelProviderService,
  strikes: Strikes,
  options: FaultyModelsOptions = {}
): ModelProviderService => ({
  ...inner,
  chat: (model: Model, request: ChatRequest) =>
    Stream.suspend(() => {
      const subject = options.subjectOf?.(request) ?? model.id
      if (strikes.strikes("model_429", subject)) return Stream.fail(new UpstreamFailed({ reason: "overloaded" }))
      if (strikes.strikes("model_500", subject)) return Stream.fail(new UpstreamFailed({ reason: "broken" }))
      const answer = inner.chat(model, request)
      const begun = () => Stream.take(answer, strikes.within("events-before", subject, EVENTS_BEFORE))
      if (strikes.strikes("model_hangs", subject)) return Stream.concat(begun(), Stream.never)
      if (strikes.strikes("model_cut", subject)) {
        return Stream.concat(begun(), Stream.fail(new UpstreamFailed({ reason: "broken" })))
      }
      if (!strikes.strikes("model_malformed", subject)) return answer
      return malformed(answer, request, strikes.draw("malformed", subject))
    })
})
