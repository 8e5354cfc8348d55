/**
 * A provider of models with faults: it refuses, fails, hangs, breaks off, or sends a malformed answer. The answers are
 * those of the inner provider, so that a call without a fault gets its answer unchanged.
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
import { malform } from "./MalformedAnswers.ts"
import type { FaultDraw } from "./FaultDraw.ts"

export interface FaultyModelsOptions {
  /** Returns the stable name of a request by its text. Where it has none, the model's id is its name. */
  readonly subjectOf?: (text: string) => string | undefined
  /** Returns the stable name of a video, by the key of its order or by its reference. */
  readonly filmOf?: (key: string) => string | undefined
}

/** Events of an answer that arrive before it hangs or is cut: from, to. */
const EVENTS_BEFORE = [0, 12] as const

export const faultyModels = (
  inner: ModelProviderService,
  faultDraw: FaultDraw,
  options: FaultyModelsOptions = {}
): ModelProviderService => ({
  ...inner,
  ...(inner.embeddings === undefined ? {} : { embeddings: faultyEmbeddings(inner.embeddings, faultDraw, options) }),
  ...(inner.images === undefined ? {} : { images: faultyImages(inner.images, faultDraw, options) }),
  ...(inner.speech === undefined ? {} : { speech: faultySpeech(inner.speech, faultDraw, options) }),
  ...(inner.transcription === undefined
    ? {}
    : { transcription: faultyTranscription(inner.transcription, faultDraw, options) }),
  ...(inner.videos === undefined ? {} : { videos: faultyVideos(inner.videos, faultDraw, options) }),
  chat: (model, request, hear) =>
    Effect.suspend(() => {
      const subject = options.subjectOf?.(request.messages[0]?.text ?? "") ?? model.id
      const refused = refusal(faultDraw, subject)
      if (refused !== undefined) return Effect.fail(refused)
      const events = () => faultDraw.drawBetween("events-before", subject, EVENTS_BEFORE)
      if (faultDraw.applies("model_hangs", subject))
        return chatUntil(inner, model, request, hear, events(), Effect.never)
      if (faultDraw.applies("model_cut", subject)) {
        return chatUntil(inner, model, request, hear, events(), Effect.fail(new UpstreamFailed({ reason: "broken" })))
      }
      return faultDraw.applies("model_malformed", subject)
        ? malform(inner, faultDraw.draw("malformed", subject)).chat(model, request, hear)
        : inner.chat(model, request, hear)
    })
})

const faultyEmbeddings = (
  inner: EmbeddingProvider,
  faultDraw: FaultDraw,
  { subjectOf }: FaultyModelsOptions
): EmbeddingProvider => ({
  ...inner,
  embed: (model, inputs, dimensions) =>
    faultyAnswer(faultDraw, subjectOf?.(String(inputs[0])) ?? model.id, inner.embed(model, inputs, dimensions))
})

const faultyImages = (
  inner: ImageProvider,
  faultDraw: FaultDraw,
  { subjectOf }: FaultyModelsOptions
): ImageProvider => ({
  ...inner,
  generate: (model, request) =>
    faultyAnswer(faultDraw, subjectOf?.(request.prompt) ?? model.id, inner.generate(model, request))
})

const faultySpeech = (
  inner: SpeechProvider,
  faultDraw: FaultDraw,
  { subjectOf }: FaultyModelsOptions
): SpeechProvider => ({
  ...inner,
  speak: (model, task) => faultyAnswer(faultDraw, subjectOf?.(task.input) ?? model.id, inner.speak(model, task))
})

const faultyTranscription = (
  inner: TranscriptionProvider,
  faultDraw: FaultDraw,
  { subjectOf }: FaultyModelsOptions
): TranscriptionProvider => ({
  ...inner,
  transcribe: (model, task) =>
    faultyAnswer(faultDraw, subjectOf?.(task.path) ?? model.id, inner.transcribe(model, task))
})

const faultyVideos = (inner: VideoProvider, faultDraw: FaultDraw, { filmOf }: FaultyModelsOptions): VideoProvider => ({
  ...inner,
  submit: (model, task) => faultyAnswer(faultDraw, filmOf?.(task.id) ?? model.id, inner.submit(model, task)),
  look: (model, reference) =>
    Effect.map(faultyAnswer(faultDraw, filmOf?.(reference) ?? model.id, inner.look(model, reference)), (progress) =>
      progress._tag === "Completed" && faultDraw.applies("model_cut", filmOf?.(reference) ?? reference)
        ? ({ _tag: "Failed", code: "video_generation_failed" } as const)
        : progress
    ),
  read: (model, reference, range) =>
    faultyAnswer(faultDraw, filmOf?.(reference) ?? model.id, inner.read(model, reference, range)),
  remove: (model, reference) => faultyAnswer(faultDraw, filmOf?.(reference) ?? model.id, inner.remove(model, reference))
})

const refusal = (faultDraw: FaultDraw, subject: string): UpstreamFailed | undefined => {
  if (faultDraw.applies("model_429", subject)) return new UpstreamFailed({ reason: "overloaded" })
  if (faultDraw.applies("model_500", subject)) return new UpstreamFailed({ reason: "broken" })
  return undefined
}

/** Adds faults to an answer that arrives as a whole or not at all. */
const faultyAnswer = <A>(faultDraw: FaultDraw, subject: string, answer: Effect.Effect<A, UpstreamFailed>) =>
  Effect.suspend(() => {
    const refused = refusal(faultDraw, subject)
    if (refused !== undefined) return Effect.fail(refused)
    return faultDraw.applies("model_hangs", subject) ? Effect.never : answer
  })

/** Passes on the first `max` events of the answer and then runs `end`, also where the answer ends earlier. */
const chatUntil = <E>(
  inner: ModelProviderService,
  model: Model,
  request: ChatRequest,
  hear: Hear<E>,
  max: number,
  end: Effect.Effect<never, UpstreamFailed>
) => {
  let left = max
  const limited: Hear<E | UpstreamFailed> = (events) => {
    const part = events.slice(0, left)
    left -= part.length
    return left > 0 ? hear(part) : Effect.andThen(part.length > 0 ? hear(part) : Effect.void, end)
  }
  return max === 0 ? end : Effect.andThen(inner.chat(model, request, limited), end)
}
