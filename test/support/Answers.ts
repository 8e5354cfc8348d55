/** Answers of models for tests: what a provider says, gathered; and a provider that says what a stream does. */
import type { ChatRequest } from "@sluice/domain/inference/Chat"
import type { ChatEvent, Model, ModelProviderService, UpstreamFailed } from "@sluice/domain/inference/ModelProvider"
import { Effect, Stream } from "effect"

/** All events of an answer. */
export const heard = (provider: ModelProviderService, model: Model, request: ChatRequest) =>
  Effect.suspend(() => {
    const all: Array<ChatEvent> = []
    const hear = (events: ReadonlyArray<ChatEvent>) => Effect.sync(() => void all.push(...events))
    return Effect.as(provider.chat(model, request, hear), all as ReadonlyArray<ChatEvent>)
  })

/** `chat` of a provider that answers so. */
export const saying =
  (answer: Stream.Stream<ChatEvent, UpstreamFailed>): ModelProviderService["chat"] =>
  (_model, _request, hear) =>
    Stream.runForEachArray(answer, hear)
