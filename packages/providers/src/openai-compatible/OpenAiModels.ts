/**
 * The world of models that a catalog describes: OpenAI-compatible servers of any make, as `ModelProvider`. It reaches
 * nothing before it is asked, and hangs up on everybody when it ends.
 */
import type { ChatRequest } from "@sluice/domain/models/ChatRequest"
import { Metrics } from "@sluice/domain/metrics/Metrics"
import { type Hear, type Model, ModelProvider } from "@sluice/domain/models/ModelProvider"
import { type UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Clock, Crypto, Effect, Layer } from "effect"
import { UpstreamCatalog, type ServedModel } from "./catalog/UpstreamCatalog.ts"
import { chatCall } from "./calls/ChatCall.ts"
import { embeddingCall } from "./calls/EmbeddingCall.ts"
import { imageCall } from "./calls/ImageCall.ts"
import { speechCall } from "./calls/SpeechCall.ts"
import { transcriptionCall } from "./calls/TranscriptionCall.ts"
import { type Surroundings, Upstreams } from "./upstream/Upstreams.ts"
import { upstreamVideos } from "./calls/UpstreamVideos.ts"

export interface Options {
  /** That of the machine, unless a test holds it. */
  readonly clock?: Clock.Clock
}

export const layer = (options: Options = {}): Layer.Layer<ModelProvider, never, UpstreamCatalog | Crypto.Crypto> =>
  Layer.effect(
    ModelProvider,
    Effect.gen(function* () {
      const catalog = yield* UpstreamCatalog
      const crypto = yield* Crypto.Crypto
      const clock = options.clock ?? Clock.Clock.defaultValue()
      const around = { clock, metrics: yield* Metrics, scope: yield* Effect.scope }
      const chats = yield* offered(catalog.chat, around)
      const embeddings = yield* offered(catalog.embeddings, around)
      const images = yield* offered(catalog.images, around)
      const speech = yield* offered(catalog.speech, around)
      const transcription = yield* offered(catalog.transcription, around)
      const films = yield* offered(catalog.video, around)

      const chat = <E>(model: Model, request: ChatRequest, hear: Hear<E>): Effect.Effect<void, UpstreamFailed | E> =>
        request.tools.length === 0
          ? chats.of(model).run(chatCall(request, "", hear))
          : Effect.flatMap(Effect.orDie(crypto.randomUUIDv7()), (id) =>
              chats.of(model).run(chatCall(request, id.replaceAll("-", ""), hear))
            )

      const all = [chats, embeddings, images, speech, transcription, films].flatMap(({ upstreams }) => upstreams)

      return ModelProvider.of({
        models: chats.models,
        chat,
        health: Effect.sync(() => all.flatMap((upstreams) => upstreams.health)),
        embeddings: {
          models: embeddings.models,
          embed: (model, inputs, dimensions) => embeddings.of(model).run(embeddingCall(model, inputs, dimensions))
        },
        images: {
          models: images.models,
          generate: (model, request) => images.of(model).run(imageCall(request))
        },
        speech: { models: speech.models, speak: (model, task) => speech.of(model).run(speechCall(task)) },
        transcription: {
          models: transcription.models,
          transcribe: (model, task) => transcription.of(model).run(transcriptionCall(task))
        },
        videos: upstreamVideos(films.models, films.of)
      })
    })
  )

/** The models of a kind, each with its upstreams until the scope ends. */
const offered = Effect.fnUntraced(function* <M extends { readonly id: string }>(
  offers: ReadonlyArray<ServedModel<M>>,
  around: Surroundings
) {
  const all = new Map(offers.map((offer) => [offer.model.id, new Upstreams(offer, around)]))
  yield* Effect.addFinalizer(() =>
    Effect.forEach(all.values(), (upstreams) => upstreams.close(), { concurrency: "unbounded", discard: true })
  )
  return {
    models: offers.map(({ model }) => model),
    upstreams: [...all.values()],
    of: (model: M): Upstreams => {
      const found = all.get(model.id)
      // Whoever asks has the model from `models`.
      if (found === undefined) throw new Error(`No model ${model.id} in the catalog`)
      return found
    }
  }
})
