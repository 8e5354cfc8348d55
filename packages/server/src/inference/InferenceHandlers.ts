/**
 * The endpoints of the inference surface over the domain's `Inference`. Raw requests in, ready text out: the contract shows
 * the shapes. Chats and responses have a hot route beside the router's endpoint, of the same function.
 */
import { InferenceApi } from "@sluice/api/inference/InferenceApi"
import { parsedJson } from "@sluice/domain/inference/JsonText"
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrors"
import {
  embeddingModelToWire,
  imageModelToWire,
  modelToWire,
  speechModelToWire,
  transcriptionModelToWire,
  videoModelToWire
} from "@sluice/api/inference/ModelWire"
import type { Scope } from "@sluice/domain/access/Principal"
import { MAX_IDS } from "@sluice/domain/inference/EmbeddingRequest"
import { Embeddings } from "@sluice/domain/inference/Embeddings"
import { Images } from "@sluice/domain/inference/Images"
import { Inference } from "@sluice/domain/inference/Inference"
import { ModelNotFound } from "@sluice/domain/inference/InferenceErrors"
import { Speech } from "@sluice/domain/inference/Speech"
import { MAX_SOUND_BYTES } from "@sluice/domain/inference/TranscriptionRequest"
import { Videos } from "@sluice/domain/inference/Videos"
import { Transcriptions } from "@sluice/domain/inference/Transcriptions"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { ServerResponse } from "node:http"
import { MAX_INFERENCE_BODY_BYTES } from "../http/Edge.ts"
import { HotRoutes } from "../http/HotRoutes.ts"
import { originOf } from "../http/Hosts.ts"
import { type FormBounds, type FormServices, isForm, type UploadedForm, uploadedForm } from "../http/UploadedForm.ts"
import { commonHeaders, requestIdOf } from "../http/RequestId.ts"
import { type Caller, json, makeGate, type Reply } from "./CallerGate.ts"
import type { Answering } from "./AnswerEndpoint.ts"
import { makeChat } from "./ChatEndpoint.ts"
import { makeEmbeddings } from "./EmbeddingEndpoint.ts"
import { makeImages } from "./ImageEndpoint.ts"
import { unread, unreadForm } from "./InferenceBody.ts"
import { makeResponses } from "./ResponseEndpoint.ts"
import { makeSpeech } from "./SpeechEndpoint.ts"
import { makeTranscriptions } from "./TranscriptionEndpoint.ts"
import { makeVideos, VIDEO_FORM } from "./VideoEndpoint.ts"

const CHAT_PATH = "/v1/chat/completions"
const RESPONSES_PATH = "/v1/responses"

/** Handlers of the group `inference`. */
export const InferenceHandlers = HttpApiBuilder.group(
  InferenceApi,
  "inference",
  Effect.fnUntraced(function* (handlers) {
    const inference = yield* Inference
    const guarded = yield* makeGate
    const chat = yield* makeChat
    const respond = yield* makeResponses
    const embed = yield* makeEmbeddings
    const embeddings = yield* Embeddings
    const draw = yield* makeImages
    const images = yield* Images
    const say = yield* makeSpeech
    const speech = yield* Speech
    const hear = yield* makeTranscriptions
    const transcriptions = yield* Transcriptions
    const film = yield* makeVideos
    const videos = yield* Videos
    const disk = yield* Effect.context<FormServices>()
    const models = new Map(
      [
        ...inference.models.map(modelToWire),
        ...embeddings.models.map(embeddingModelToWire),
        ...images.models.map(imageModelToWire),
        ...speech.models.map(speechModelToWire),
        ...transcriptions.models.map(transcriptionModelToWire),
        ...videos.models.map(videoModelToWire)
      ].map((one) => [one.id, one])
    )
    const list = JSON.stringify({ object: "list", data: [...models.values()] })

    const hotRoutes = yield* HotRoutes
    const addHot = (path: string, asking: Answering) =>
      hotRoutes.add({
        path,
        maxBodyBytes: MAX_INFERENCE_BODY_BYTES,
        handler: (source, response, text) =>
          Effect.map(asking({ source, response, headers: commonHeaders(requestIdOf(source)), text }), (reply) =>
            write(response, reply)
          )
      })
    yield* addHot(CHAT_PATH, chat)
    yield* addHot(RESPONSES_PATH, respond)
    const routed = (asking: Answering, request: HttpServerRequest) =>
      Effect.map(
        asking({
          source: NodeHttpServerRequest.toIncomingMessage(request),
          response: NodeHttpServerRequest.toServerResponse(request),
          headers: {},
          text: request.text
        }),
        toResponse
      )

    const answering = (
      request: HttpServerRequest,
      scope: Scope,
      answerOf: (caller: Caller) => Effect.Effect<Reply, InferenceFailure>
    ): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
      Effect.map(
        guarded(NodeHttpServerRequest.toIncomingMessage(request), { headers: {}, scope }, answerOf),
        toResponse
      )
    const reading = (request: HttpServerRequest, found: Effect.Effect<string, InferenceFailure>) =>
      answering(request, "inference:read", ({ headers }) => Effect.map(found, (body) => json(200, body, headers)))
    const showing = (request: HttpServerRequest, id: string) =>
      reading(
        request,
        Effect.suspend(() => {
          const found = models.get(id)
          return found === undefined
            ? Effect.fail(new ModelNotFound({ model: id }))
            : Effect.succeed(JSON.stringify(found))
        })
      )
    const asking = (
      request: HttpServerRequest,
      answerOf: (caller: Caller, body: unknown) => Effect.Effect<Reply, InferenceFailure>,
      numbers = 0
    ) =>
      answering(request, "inference:write", (caller) =>
        Effect.mapError(request.text, unread).pipe(
          Effect.flatMap((text) => Effect.fromResult(parsedJson(text, numbers))),
          Effect.flatMap((body) => answerOf(caller, body))
        )
      )

    const uploading = (
      request: HttpServerRequest,
      { file, ...bounds }: FormBounds & { readonly file: string },
      answerOf: (caller: Caller, form: UploadedForm) => Effect.Effect<Reply, InferenceFailure>
    ) =>
      answering(request, "inference:write", (caller) =>
        Effect.suspend(() => uploadedForm(NodeHttpServerRequest.toIncomingMessage(request), bounds)).pipe(
          Effect.mapError(unreadForm(file)),
          Effect.flatMap((form) => answerOf(caller, form)),
          Effect.scoped,
          Effect.provideContext(disk)
        )
      )

    const downloading = (request: HttpServerRequest, id: string) =>
      answering(request, "inference:read", (caller) => {
        const source = NodeHttpServerRequest.toIncomingMessage(request)
        const response = NodeHttpServerRequest.toServerResponse(request)
        return film.content(caller, id, variantOf(request.url), source, response)
      })

    return handlers
      .handleRaw("chatCompletions", ({ request }) => routed(chat, request))
      .handleRaw("createResponse", ({ request }) => routed(respond, request))
      .handleRaw("createEmbeddings", ({ request }) => asking(request, embed, MAX_IDS))
      .handleRaw("createImages", ({ request }) =>
        asking(request, (caller, body) =>
          draw(caller, body, originOf(NodeHttpServerRequest.toIncomingMessage(request)))
        )
      )
      .handleRaw("createSpeech", ({ request }) => asking(request, say))
      .handleRaw("createTranscription", ({ request }) =>
        uploading(request, { file: "file", maxFileBytes: MAX_SOUND_BYTES }, hear)
      )
      .handleRaw("createVideo", ({ request }) =>
        isForm(NodeHttpServerRequest.toIncomingMessage(request))
          ? uploading(request, VIDEO_FORM, (caller, form) =>
              film.fromForm(caller, form, request.headers["idempotency-key"])
            )
          : asking(request, (caller, body) => film.fromJson(caller, body, request.headers["idempotency-key"]))
      )
      .handleRaw("listVideos", ({ query, request }) =>
        answering(request, "inference:read", (caller) => film.list(caller, query))
      )
      .handleRaw("getVideo", ({ params, request }) =>
        answering(request, "inference:read", (caller) => film.show(caller, params.id))
      )
      .handleRaw("deleteVideo", ({ params, request }) =>
        answering(request, "inference:write", (caller) => film.remove(caller, params.id))
      )
      .handleRaw("downloadVideo", ({ params, request }) => downloading(request, params.id))
      .handleRaw("videoContent", ({ params, request }) => downloading(request, params.id))
      .handleRaw("listModels", ({ request }) => reading(request, Effect.succeed(list)))
      .handleRaw("getModel", ({ request, params }) => showing(request, params.id))
  })
)

const toResponse = (reply: Reply) =>
  reply === undefined
    ? HttpServerResponse.empty({ status: 200 })
    : bodyOf(reply.body, { status: reply.status, headers: reply.headers, contentType: reply.contentType })

const bodyOf = (body: string | Uint8Array, options: HttpServerResponse.Options.WithContentType) =>
  typeof body === "string" ? HttpServerResponse.text(body, options) : HttpServerResponse.uint8Array(body, options)

const write = (response: ServerResponse, reply: Reply): void => {
  if (reply === undefined || response.destroyed) return
  const headers: Record<string, string | number> = { ...reply.headers }
  headers["content-type"] = reply.contentType
  headers["content-length"] = Buffer.byteLength(reply.body)
  response.writeHead(reply.status, headers)
  response.end(reply.body)
}

const variantOf = (url: string): string | undefined =>
  new URLSearchParams(url.split("?")[1]).get("variant") ?? undefined
