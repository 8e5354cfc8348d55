/**
 * The endpoints of the inference surface over the domain's services. Handlers take raw requests and return finished
 * text; the contract describes the shapes. Chats and responses also have a hot route, which runs the same function as
 * the router's endpoint.
 */
import { InferenceApi } from "@sluice/api/inference/InferenceApi"
import { parsedJson } from "@sluice/domain/models/JsonText"
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrors"
import {
  embeddingModelToWire,
  imageModelToWire,
  modelToWire,
  speechModelToWire,
  transcriptionModelToWire,
  videoModelToWire
} from "@sluice/api/models/ModelWire"
import type { Scope } from "@sluice/domain/access/Principal"
import { MAX_IDS } from "@sluice/domain/inference/embeddings/EmbeddingRequest"
import { Embeddings } from "@sluice/domain/inference/embeddings/Embeddings"
import { Images } from "@sluice/domain/inference/images/Images"
import { Inference } from "@sluice/domain/inference/chat/Inference"
import { ModelNotFound } from "@sluice/domain/models/InferenceErrors"
import { Speech } from "@sluice/domain/inference/audio/Speech"
import { MAX_SOUND_BYTES } from "@sluice/domain/inference/audio/TranscriptionRequest"
import { Videos } from "@sluice/domain/videos/Videos"
import { Transcriptions } from "@sluice/domain/inference/audio/Transcriptions"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { ServerResponse } from "node:http"
import { MAX_INFERENCE_BODY_BYTES } from "../http/Edge.ts"
import { HotRoutes } from "../http/HotRoutes.ts"
import { originOf } from "../http/Hosts.ts"
import {
  type FormBounds,
  type FormServices,
  isForm,
  type UploadedForm,
  readUploadedForm
} from "../http/UploadedForm.ts"
import { commonHeaders, requestIdOf } from "../http/RequestId.ts"
import { type Caller, json, makeGate, type Reply } from "./CallerGate.ts"
import type { AnswerHandler } from "./answers/AnswerEndpoint.ts"
import { makeChat } from "./chat/ChatEndpoint.ts"
import { makeEmbeddings } from "./embeddings/EmbeddingEndpoint.ts"
import { makeImages } from "./images/ImageEndpoint.ts"
import { toBodyFailure, toFormFailure } from "./InferenceBody.ts"
import { makeResponses } from "./responses/ResponseEndpoint.ts"
import { makeSpeech } from "./audio/SpeechEndpoint.ts"
import { makeTranscriptions } from "./audio/TranscriptionEndpoint.ts"
import { makeVideos, VIDEO_FORM } from "../videos/VideoEndpoint.ts"

const CHAT_PATH = "/v1/chat/completions"
const RESPONSES_PATH = "/v1/responses"

/** The handlers of the group `inference`. */
export const InferenceHandlers = HttpApiBuilder.group(
  InferenceApi,
  "inference",
  Effect.fnUntraced(function* (handlers) {
    const gate = yield* makeGate
    const chat = yield* makeChat
    const responses = yield* makeResponses
    const embeddings = yield* makeEmbeddings
    const images = yield* makeImages
    const speech = yield* makeSpeech
    const transcriptions = yield* makeTranscriptions
    const videos = yield* makeVideos
    const models = yield* modelsOnWire
    const formServices = yield* Effect.context<FormServices>()
    const list = JSON.stringify({ object: "list", data: [...models.values()] })

    const hotRoutes = yield* HotRoutes
    const addHot = (path: string, ask: AnswerHandler) =>
      hotRoutes.add({
        path,
        maxBodyBytes: MAX_INFERENCE_BODY_BYTES,
        handler: (source, response, text) =>
          Effect.map(ask({ source, response, headers: commonHeaders(requestIdOf(source)), text }), (reply) =>
            write(response, reply)
          )
      })
    yield* addHot(CHAT_PATH, chat)
    yield* addHot(RESPONSES_PATH, responses)
    const viaRouter = (ask: AnswerHandler, request: HttpServerRequest) =>
      Effect.map(
        ask({
          source: NodeHttpServerRequest.toIncomingMessage(request),
          response: NodeHttpServerRequest.toServerResponse(request),
          text: request.text
        }),
        toResponse
      )

    const viaGate = (
      request: HttpServerRequest,
      scope: Scope,
      respond: (caller: Caller) => Effect.Effect<Reply, InferenceFailure>
    ): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
      Effect.map(gate(NodeHttpServerRequest.toIncomingMessage(request), { scope }, respond), toResponse)
    const readOnly = (request: HttpServerRequest, found: Effect.Effect<string, InferenceFailure>) =>
      viaGate(request, "inference:read", ({ headers }) => Effect.map(found, (body) => json(200, body, headers)))
    const showModel = (request: HttpServerRequest, id: string) =>
      readOnly(
        request,
        Effect.suspend(() => {
          const found = models.get(id)
          return found === undefined
            ? Effect.fail(new ModelNotFound({ model: id }))
            : Effect.succeed(JSON.stringify(found))
        })
      )
    const withJson = (
      request: HttpServerRequest,
      respond: (caller: Caller, body: unknown) => Effect.Effect<Reply, InferenceFailure>,
      numbers = 0
    ) =>
      viaGate(request, "inference:write", (caller) =>
        Effect.mapError(request.text, toBodyFailure).pipe(
          Effect.flatMap((text) => Effect.fromResult(parsedJson(text, numbers))),
          Effect.flatMap((body) => respond(caller, body))
        )
      )

    const withForm = (
      request: HttpServerRequest,
      { file, ...bounds }: FormBounds & { readonly file: string },
      respond: (caller: Caller, form: UploadedForm) => Effect.Effect<Reply, InferenceFailure>
    ) =>
      viaGate(request, "inference:write", (caller) =>
        Effect.suspend(() => readUploadedForm(NodeHttpServerRequest.toIncomingMessage(request), bounds)).pipe(
          Effect.mapError(toFormFailure(file)),
          Effect.flatMap((form) => respond(caller, form)),
          Effect.scoped,
          Effect.provideContext(formServices)
        )
      )

    const download = (request: HttpServerRequest, id: string) =>
      viaGate(request, "inference:read", (caller) => {
        const source = NodeHttpServerRequest.toIncomingMessage(request)
        const response = NodeHttpServerRequest.toServerResponse(request)
        return videos.content(caller, id, queryOf(request.url), source, response)
      })

    return handlers
      .handleRaw("chatCompletions", ({ request }) => viaRouter(chat, request))
      .handleRaw("createResponse", ({ request }) => viaRouter(responses, request))
      .handleRaw("createEmbeddings", ({ request }) => withJson(request, embeddings, MAX_IDS))
      .handleRaw("createImages", ({ request }) =>
        withJson(request, (caller, body) =>
          images(caller, body, originOf(NodeHttpServerRequest.toIncomingMessage(request)))
        )
      )
      .handleRaw("createSpeech", ({ request }) => withJson(request, speech))
      .handleRaw("createTranscription", ({ request }) =>
        withForm(request, { file: "file", maxFileBytes: MAX_SOUND_BYTES }, transcriptions)
      )
      .handleRaw("createVideo", ({ request }) =>
        isForm(NodeHttpServerRequest.toIncomingMessage(request))
          ? withForm(request, VIDEO_FORM, (caller, form) =>
              videos.fromForm(caller, form, request.headers["idempotency-key"])
            )
          : withJson(request, (caller, body) => videos.fromJson(caller, body, request.headers["idempotency-key"]))
      )
      .handle("listVideos", ({ request }) =>
        viaGate(request, "inference:read", (caller) => videos.list(caller, queryOf(request.url)))
      )
      .handle("getVideo", ({ params, request }) =>
        viaGate(request, "inference:read", (caller) => videos.show(caller, params.id))
      )
      .handle("deleteVideo", ({ params, request }) =>
        viaGate(request, "inference:write", (caller) => videos.remove(caller, params.id))
      )
      .handle("downloadVideo", ({ params, request }) => download(request, params.id))
      .handle("videoContent", ({ params, request }) => download(request, params.id))
      .handle("listModels", ({ request }) => readOnly(request, Effect.succeed(list)))
      .handle("getModel", ({ request, params }) => showModel(request, params.id))
  })
)

/** The listed models by id. */
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

const queryOf = (url: string): URLSearchParams => {
  const at = url.indexOf("?")
  return new URLSearchParams(at < 0 ? "" : url.slice(at + 1))
}
