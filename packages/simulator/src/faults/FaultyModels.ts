/**
 * A provider of models with faults: it refuses, fails, falls silent, breaks off, or says what makes no sense. What would
 * have been the answer is still the inner provider's, so that a caller who is spared gets it unchanged.
 */
import type { ChatRequest } from "@sluice/domain/models/ChatRequest"
import type { SpeechProvider, TranscriptionProvider, VideoProvider } from "@sluice/domain/models/MediaProvider"
import type {
  EmbeddingProvider,
  Hear,
  ImageProvider,
  Model,
  ModelProviderService
} from "@sluice/domain/models/ModelProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Effect } from "effect"
import { malformed } from "./MalformedAnswers.ts"
import type { FaultDraw } from "./FaultDraw.ts"

export interface FaultyModelsOptions {
  /** The stable name of a question, by its text; the model's id where it has none. */
  readonly subjectOf?: (text: string) => string | undefined
  /** The stable name of a film, by the key of its order or its reference. */
  readonly filmOf?: (key: string) => string | undefined
}

/** How many events of an answer arrive before it hangs or is cut: from, to. */
const EVENTS_BEFORE = [0, 12] as const

export const faultyModels = (
  inner: ModelProviderService,
  strikes: FaultDraw,
  options: FaultyModelsOptions = {}
): ModelProviderService => ({
  ...inner,
  ...(inner.embeddings === undefined ? {} : { embeddings: faultyEmbeddings(inner.embeddings, strikes, options) }),
  ...(inner.images === undefined ? {} : { images: faultyImages(inner.images, strikes, options) }),
  ...(inner.speech === undefined ? {} : { speech: faultySpeech(inner.speech, strikes, options) }),
  ...(inner.transcription === undefined ? {} : { transcription: faultyEars(inner.transcription, strikes, options) }),
  ...(inner.videos === undefined ? {} : { videos: faultyFilms(inner.videos, strikes, options) }),
  chat: (model, request, hear) =>
    Effect.suspend(() => {
      const subject = options.subjectOf?.(request.messages[0]?.text ?? "") ?? model.id
      const refused = refusal(strikes, subject)
      if (refused !== undefined) return Effect.fail(refused)
      const events = () => strikes.within("events-before", subject, EVENTS_BEFORE)
      if (strikes.strikes("model_hangs", subject)) return begun(inner, model, request, hear, events(), Effect.never)
      if (strikes.strikes("model_cut", subject)) {
        return begun(inner, model, request, hear, events(), Effect.fail(new UpstreamFailed({ reason: "broken" })))
      }
      return strikes.strikes("model_malformed", subject)
        ? malformed(inner, strikes.draw("malformed", subject)).chat(model, request, hear)
        : inner.chat(model, request, hear)
    })
})

const faultyEmbeddings = (
  inner: EmbeddingProvider,
  strikes: FaultDraw,
  { subjectOf }: FaultyModelsOptions
): EmbeddingProvider => ({
  ...inner,
  embed: (model, inputs, dimensions) =>
    whole(strikes, subjectOf?.(String(inputs[0])) ?? model.id, inner.embed(model, inputs, dimensions))
})

const faultyImages = (inner: ImageProvider, strikes: FaultDraw, { subjectOf }: FaultyModelsOptions): ImageProvider => ({
  ...inner,
  generate: (model, request) => whole(strikes, subjectOf?.(request.prompt) ?? model.id, inner.generate(model, request))
})

const faultySpeech = (
  inner: SpeechProvider,
  strikes: FaultDraw,
  { subjectOf }: FaultyModelsOptions
): SpeechProvider => ({
  ...inner,
  speak: (model, task) => whole(strikes, subjectOf?.(task.input) ?? model.id, inner.speak(model, task))
})

const faultyEars = (
  inner: TranscriptionProvider,
  strikes: FaultDraw,
  { subjectOf }: FaultyModelsOptions
): TranscriptionProvider => ({
  ...inner,
  transcribe: (model, task) => whole(strikes, subjectOf?.(task.path) ?? model.id, inner.transcribe(model, task))
})

const faultyFilms = (inner: VideoProvider, strikes: FaultDraw, { filmOf }: FaultyModelsOptions): VideoProvider => ({
  ...inner,
  submit: (model, task) => whole(strikes, filmOf?.(task.id) ?? model.id, inner.submit(model, task)),
  look: (model, reference) =>
    Effect.map(whole(strikes, filmOf?.(reference) ?? model.id, inner.look(model, reference)), (progress) =>
      progress._tag === "Completed" && strikes.strikes("model_cut", filmOf?.(reference) ?? reference)
        ? ({ _tag: "Failed", code: "video_generation_failed" } as const)
        : progress
    ),
  read: (model, reference, range) =>
    whole(strikes, filmOf?.(reference) ?? model.id, inner.read(model, reference, range)),
  remove: (model, reference) => whole(strikes, filmOf?.(reference) ?? model.id, inner.remove(model, reference))
})

const refusal = (strikes: FaultDraw, subject: string): UpstreamFailed | undefined => {
  if (strikes.strikes("model_429", subject)) return new UpstreamFailed({ reason: "overloaded" })
  if (strikes.strikes("model_500", subject)) return new UpstreamFailed({ reason: "broken" })
  return undefined
}

/** What comes whole or not at all. */
const whole = <A>(strikes: FaultDraw, subject: string, answer: Effect.Effect<A, UpstreamFailed>) =>
  Effect.suspend(() => {
    const refused = refusal(strikes, subject)
    if (refused !== undefined) return Effect.fail(refused)
    return strikes.strikes("model_hangs", subject) ? Effect.never : answer
  })

/** The first `most` events of the answer, and then `end`, wherever the answer itself would end. */
const begun = <E>(
  inner: ModelProviderService,
  model: Model,
  request: ChatRequest,
  hear: Hear<E>,
  most: number,
  end: Effect.Effect<never, UpstreamFailed>
) => {
  let left = most
  const some: Hear<E | UpstreamFailed> = (events) => {
    const part = events.slice(0, left)
    left -= part.length
    return left > 0 ? hear(part) : Effect.andThen(part.length > 0 ? hear(part) : Effect.void, end)
  }
  return most === 0 ? end : Effect.andThen(inner.chat(model, request, some), end)
}
