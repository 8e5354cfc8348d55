/**
 * The contract of the inference surface, `/v1` (interface: Inference surface). The server handles these endpoints from
 * raw requests; the schemas serve the OpenAPI document and typed clients. The merged document of both surfaces adds the
 * bearer security.
 */
import { ChatBody } from "@sluice/domain/inference/chat/ChatBody"
import { EmbeddingBody } from "@sluice/domain/inference/embeddings/EmbeddingRequest"
import { ImageBody } from "@sluice/domain/inference/images/ImageRequest"
import { ResponseBody } from "@sluice/domain/inference/responses/ResponseBody"
import { SpeechBody } from "@sluice/domain/inference/audio/SpeechRequest"
import { TRANSCRIPT_FORMATS } from "@sluice/domain/inference/audio/TranscriptionRequest"
import * as Multipart from "effect/http/Multipart"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { ChatChunkWire, ChatCompletionWire } from "./chat/ChatWire.ts"
import { commonErrors, modelCallErrors } from "./InferenceApiErrors.ts"
import { EmbeddingListWire } from "./embeddings/EmbeddingWire.ts"
import { ImageListWire } from "./images/ImageWire.ts"
import { ModelListWire, ModelWire } from "../models/ModelWire.ts"
import { ResponseEventWire } from "./responses/ResponseEventWire.ts"
import { ResponseWire } from "./responses/ResponseWire.ts"
import { createVideo, deleteVideo, downloadVideo, getVideo, listVideos, videoContent } from "../videos/VideoApi.ts"
import { TranscriptWire, VerboseTranscriptWire } from "./audio/TranscriptWire.ts"

const chatCompletions = HttpApiEndpoint.post("chatCompletions", "/chat/completions", {
  payload: ChatBody,
  success: [ChatCompletionWire, HttpApiSchema.StreamSse({ data: ChatChunkWire })],
  error: modelCallErrors
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
  error: modelCallErrors
}).annotateMerge(
  OpenApi.annotations({
    identifier: "createResponse",
    summary: "Answer a conversation, as a response",
    description:
      "Nothing is stored: send the whole conversation each time. With `stream: true` the answer is server-sent events " +
      "with a name and a `sequence_number`, from `response.created` to `response.completed`, `response.incomplete` or " +
      "`error` and `response.failed`. Usage is charged before the answer is complete."
  })
)

const createEmbeddings = HttpApiEndpoint.post("createEmbeddings", "/embeddings", {
  payload: EmbeddingBody,
  success: EmbeddingListWire,
  error: modelCallErrors
}).annotateMerge(
  OpenApi.annotations({
    identifier: "createEmbedding",
    summary: "Create embeddings of texts",
    description: "From 1 to 2,048 texts. Vectors have length one; fewer `dimensions` return the first values."
  })
)

const createImages = HttpApiEndpoint.post("createImages", "/images/generations", {
  payload: ImageBody,
  success: ImageListWire,
  error: modelCallErrors
}).annotateMerge(
  OpenApi.annotations({
    identifier: "createImage",
    summary: "Generate images from a prompt",
    description:
      "Files as base64 or as links, all in the model's format, which `output_format` states (`png`, `jpeg` or " +
      "`webp`). Failed images cost nothing."
  })
)

/** Events in one response that is not streamed. */
const eventText = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" }))

const createSpeech = HttpApiEndpoint.post("createSpeech", "/audio/speech", {
  payload: SpeechBody,
  success: [
    ...["audio/mpeg", "audio/pcm", "audio/wav"].map((contentType) =>
      Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType }))
    ),
    eventText
  ],
  error: modelCallErrors
}).annotateMerge(
  OpenApi.annotations({
    identifier: "createSpeech",
    summary: "Generate speech from a text",
    description:
      "`audio/mpeg`, `audio/wav`, or `audio/pcm` (24 kHz, 16 bits little-endian, one channel); with " +
      "`stream_format: sse` events that contain the sound as base64. Failed speech costs nothing."
  })
)

const createTranscription = HttpApiEndpoint.post("createTranscription", "/audio/transcriptions", {
  payload: Schema.Struct({
    file: Multipart.SingleFileSchema,
    model: Schema.String,
    language: Schema.optionalKey(Schema.String.annotate({ description: "ISO 639-1" })),
    prompt: Schema.optionalKey(Schema.String),
    response_format: Schema.optionalKey(Schema.Literals(TRANSCRIPT_FORMATS)),
    temperature: Schema.optionalKey(Schema.String),
    stream: Schema.optionalKey(Schema.Literals(["true", "false"])),
    "timestamp_granularities[]": Schema.optionalKey(Schema.Array(Schema.Literals(["word", "segment"])))
  }).pipe(HttpApiSchema.asMultipart()),
  success: [TranscriptWire, VerboseTranscriptWire, Schema.String.pipe(HttpApiSchema.asText()), eventText],
  error: modelCallErrors
}).annotateMerge(
  OpenApi.annotations({
    identifier: "createTranscription",
    summary: "Transcribe a sound file",
    description:
      "A file of up to 25 MB (mp3, wav, flac, ogg, m4a, webm, aac), charged by its length. Text, `srt` and `vtt` are " +
      "plain text; with `stream` events `transcript.text.delta` and one `transcript.text.done`."
  })
)

const listModels = HttpApiEndpoint.get("listModels", "/models", {
  success: ModelListWire,
  error: commonErrors
}).annotateMerge(OpenApi.annotations({ identifier: "listModels", summary: "List the models" }))

const getModel = HttpApiEndpoint.get("getModel", "/models/:id", {
  params: { id: Schema.String },
  success: ModelWire,
  error: commonErrors
}).annotateMerge(OpenApi.annotations({ identifier: "getModel", summary: "Show a model" }))

class InferenceGroup extends HttpApiGroup.make("inference")
  .add(
    chatCompletions,
    createResponse,
    createEmbeddings,
    createImages,
    createSpeech,
    createTranscription,
    createVideo,
    listVideos,
    getVideo,
    deleteVideo,
    downloadVideo,
    videoContent,
    listModels,
    getModel
  )
  .prefix("/v1") {}

export class InferenceApi extends HttpApi.make("inference").add(InferenceGroup) {}
