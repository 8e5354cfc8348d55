/** GET /models and GET /models/{id}: what every kind of model of this server is on the wire, made once. */
import {
  embeddingModelToWire,
  imageModelToWire,
  modelToWire,
  speechModelToWire,
  transcriptionModelToWire,
  videoModelToWire
} from "@sluice/api/models/ModelWire"
import { Speech } from "@sluice/domain/inference/audio/Speech"
import { Transcriptions } from "@sluice/domain/inference/audio/Transcriptions"
import { Inference } from "@sluice/domain/inference/chat/Inference"
import { Embeddings } from "@sluice/domain/inference/embeddings/Embeddings"
import { Images } from "@sluice/domain/inference/images/Images"
import { ModelNotFound } from "@sluice/domain/models/InferenceErrors"
import { Videos } from "@sluice/domain/videos/Videos"
import { Effect } from "effect"
import { json } from "../inference/CallerGate.ts"
import { type Routed, RoutedRequests } from "../inference/RoutedRequests.ts"

export const makeModels = Effect.gen(function* () {
  const { gated } = yield* RoutedRequests
  const models = yield* modelsOnWire
  const list = JSON.stringify({ object: "list", data: [...models.values()] })
  return {
    list: ({ request }: Routed) =>
      gated(request, "inference:read", ({ headers }) => Effect.succeed(json(200, list, headers))),

    get: ({ params: { id }, request }: Routed & { readonly params: { readonly id: string } }) =>
      gated(request, "inference:read", ({ headers }) => {
        const found = models.get(id)
        return found === undefined
          ? Effect.fail(new ModelNotFound({ model: id }))
          : Effect.succeed(json(200, JSON.stringify(found), headers))
      })
  }
})

/** By id, those that are listed. */
const modelsOnWire = Effect.gen(function* () {
  const all = [
    ...(yield* Inference).models.map(modelToWire),
    ...(yield* Embeddings).models.map(embeddingModelToWire),
    ...(yield* Images).models.map(imageModelToWire),
    ...(yield* Speech).models.map(speechModelToWire),
    ...(yield* Transcriptions).models.map(transcriptionModelToWire),
    ...(yield* Videos).models.map(videoModelToWire)
  ]
  return new Map(all.map((model) => [model.id, model]))
})
