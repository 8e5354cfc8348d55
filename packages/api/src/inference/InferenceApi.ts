/**
 * The contract of the inference surface, `/v1` (interface: Inference surface). The server answers these endpoints from raw
 * requests; the schemas here are what documents and typed clients show. Bearer security is added where the documents of
 * both surfaces are merged.
 */
import { ChatBody } from "@sluice/domain/inference/ChatBody"
import { EmbeddingBody } from "@sluice/domain/inference/EmbeddingRequest"
import { ImageBody } from "@sluice/domain/inference/ImageRequest"
import { ResponseBody } from "@sluice/domain/inference/ResponseBody"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { ChatChunkWire, ChatCompletionWire } from "./ChatWire.ts"
import { EmbeddingListWire } from "./EmbeddingWire.ts"
import { ImageListWire } from "./ImageWire.ts"
import { ModelListWire, ModelWire } from "./ModelWire.ts"
import { ResponseEventWire } from "./ResponseEventWire.ts"
import { ResponseWire } from "./ResponseWire.ts"

export const InferenceErrorBody = Schema.Struct({
  message: Schema.String,
  type: Schema.String,
  code: Schema.NullOr(Schema.String),
  param: Schema.NullOr(Schema.String),
  request_id: Schema.String
}).annotate({ identifier: "InferenceError" })

const fields = { error: InferenceErrorBody }

export class InvalidRequest extends Schema.Error<InvalidRequest>("InvalidRequest")(fields, { httpApiStatus: 400 }) {}
export class InvalidApiKey extends Schema.Error<InvalidApiKey>("InvalidApiKey")(fields, { httpApiStatus: 401 }) {}
export class QuotaSpent extends Schema.Error<QuotaSpent>("QuotaSpent")(fields, { httpApiStatus: 402 }) {}
export class NotPermitted extends Schema.Error<NotPermitted>("NotPermitted")(fields, { httpApiStatus: 403 }) {}
export class Unknown extends Schema.Error<Unknown>("Unknown")(fields, { httpApiStatus: 404 }) {}
export class TooLarge extends Schema.Error<TooLarge>("TooLarge")(fields, { httpApiStatus: 413 }) {}
export class TooMany extends Schema.Error<TooMany>("TooMany")(fields, { httpApiStatus: 429 }) {}
export class Failed extends Schema.Error<Failed>("Failed")(fields, { httpApiStatus: 500 }) {}
export class UpstreamBroken extends Schema.Error<UpstreamBroken>("UpstreamBroken")(fields, { httpApiStatus: 502 }) {}
export class Overloaded extends Schema.Error<Overloaded>("Overloaded")(fields, { httpApiStatus: 503 }) {}
export class TimedOut extends Schema.Error<TimedOut>("TimedOut")(fields, { httpApiStatus: 504 }) {}

const always = [InvalidApiKey, NotPermitted, Unknown, TooMany, Failed] as const

const chatCompletions = HttpApiEndpoint.post("chatCompletions", "/chat/completions", {
  payload: ChatBody,
  success: [ChatCompletionWire, HttpApiSchema.StreamSse({ data: ChatChunkWire })],
  error: [...always, InvalidRequest, QuotaSpent, TooLarge, UpstreamBroken, Overloaded, TimedOut]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "createChatCompletion",
    summary: "Answer a conversation",
    description:
      "With `stream: true` the answer is server-sent events that end with `data: [DONE]`; a failure after the first " +
      'event is one `data: {"error": ...}` and no `[DONE]`. Usage is charged before the answer is complete.'
  })
)

const createResponse = HttpApiEndpoint.post("createResponse", "/responses", {
  payload: ResponseBody,
  success: [ResponseWire, HttpApiSchema.StreamSse({ data: ResponseEventWire })],
  error: [...always, InvalidRequest, QuotaSpent, TooLarge, UpstreamBroken, Overloaded, TimedOut]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "createResponse",
    summary: "Answer a conversation, as a response",
    description:
      "Nothing is stored: send the whole conversation each time. With `stream: true` the answer is server-sent events " +
      "with a name and a `sequence_number`, from `response.created` to `response.completed`, `response.incomplete` or " +
      "`response.failed`. Usage is charged before the answer is complete."
  })
)

const createEmbeddings = HttpApiEndpoint.post("createEmbeddings", "/embeddings", {
  payload: EmbeddingBody,
  success: EmbeddingListWire,
  error: [...always, InvalidRequest, QuotaSpent, TooLarge, UpstreamBroken, Overloaded, TimedOut]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "createEmbedding",
    summary: "Texts as vectors",
    description: "From 1 to 2,048 texts. Vectors have length one; fewer `dimensions` are the first of them."
  })
)

const createImages = HttpApiEndpoint.post("createImages", "/images/generations", {
  payload: ImageBody,
  success: ImageListWire,
  error: [...always, InvalidRequest, QuotaSpent, TooLarge, UpstreamBroken, Overloaded, TimedOut]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "createImage",
    summary: "Images of a prompt",
    description: "PNG files as base64. Images that fail cost nothing."
  })
)

const listModels = HttpApiEndpoint.get("listModels", "/models", {
  success: ModelListWire,
  error: always
}).annotateMerge(OpenApi.annotations({ identifier: "listModels", summary: "List the models" }))

const getModel = HttpApiEndpoint.get("getModel", "/models/:id", {
  params: { id: Schema.String },
  success: ModelWire,
  error: always
}).annotateMerge(OpenApi.annotations({ identifier: "getModel", summary: "Show a model" }))

export class InferenceGroup extends HttpApiGroup.make("inference")
  .add(chatCompletions, createResponse, createEmbeddings, createImages, listModels, getModel)
  .prefix("/v1") {}

export class InferenceApi extends HttpApi.make("inference").add(InferenceGroup) {}
