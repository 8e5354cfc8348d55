/**
 * The endpoints of the inference surface, each from the folder of its noun. Requests with a body stay raw: the gate comes
 * before the body, and what is wrong with one is said in OpenAI's form.
 */
import { InferenceApi } from "@sluice/api/inference/InferenceApi"
import { Effect, Layer } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { makeModels } from "../models/ModelEndpoints.ts"
import { makeVideos } from "../videos/VideoEndpoint.ts"
import { makeSpeech } from "./audio/SpeechEndpoint.ts"
import { makeTranscriptions } from "./audio/TranscriptionEndpoint.ts"
import { CallerGate } from "./CallerGate.ts"
import { makeChat } from "./chat/ChatEndpoint.ts"
import { makeEmbeddings } from "./embeddings/EmbeddingEndpoint.ts"
import { makeImages } from "./images/ImageEndpoint.ts"
import { makeResponses } from "./responses/ResponseEndpoint.ts"
import { RoutedRequests } from "./RoutedRequests.ts"

/** The handlers of the group `inference`. */
export const InferenceHandlers = HttpApiBuilder.group(
  InferenceApi,
  "inference",
  Effect.fnUntraced(function* (handlers) {
    const models = yield* makeModels
    const videos = yield* makeVideos
    return handlers
      .handleRaw("chatCompletions", yield* makeChat)
      .handleRaw("createResponse", yield* makeResponses)
      .handleRaw("createEmbeddings", yield* makeEmbeddings)
      .handleRaw("createImages", yield* makeImages)
      .handleRaw("createSpeech", yield* makeSpeech)
      .handleRaw("createTranscription", yield* makeTranscriptions)
      .handleRaw("createVideo", videos.create)
      .handle("listVideos", videos.list)
      .handle("getVideo", videos.get)
      .handle("deleteVideo", videos.remove)
      .handle("downloadVideo", videos.download)
      .handle("videoContent", videos.download)
      .handle("listModels", models.list)
      .handle("getModel", models.get)
  })
).pipe(Layer.provide(RoutedRequests.layer), Layer.provide(CallerGate.layer))
