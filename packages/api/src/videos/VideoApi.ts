/** The contract of `/v1/videos` (interface: POST /videos, GET /videos/{id}, GET /videos/{id}/download). */
import { ImageUrl } from "@sluice/domain/inference/chat/ChatBody"
import { VideoBody } from "@sluice/domain/videos/VideoRequest"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Multipart from "effect/http/Multipart"
import * as Schema from "effect/Schema"
import {
  commonErrors,
  NotEnded,
  InvalidRequest,
  Overloaded,
  QuotaSpent,
  RangeNotSatisfiable,
  TimedOut,
  TooLarge,
  UpstreamBroken
} from "../inference/InferenceApiErrors.ts"
import { VideoDeletedWire, VideoListWire, VideoWire } from "./VideoWire.ts"

const params = { id: Schema.String }

type Operation = Readonly<Record<string, unknown>>

/** Declares parameters that the server reads from the raw request and validates itself, after the key. */
const withParameters =
  (
    ...parameters: ReadonlyArray<{
      readonly name: string
      readonly in: "header" | "query"
      readonly description: string
    }>
  ) =>
  (operation: Operation): Operation => ({
    ...operation,
    parameters: [
      ...(operation["parameters"] as ReadonlyArray<object>),
      ...parameters.map((one) => ({ ...one, required: false, schema: { type: "string" } }))
    ]
  })

const Form = Schema.Struct({
  model: Schema.String,
  prompt: Schema.String,
  seconds: Schema.optionalKey(Schema.String),
  size: Schema.optionalKey(Schema.String),
  input_reference: Schema.optionalKey(Multipart.SingleFileSchema),
  "input_reference[image_url]": Schema.optionalKey(ImageUrl)
}).pipe(HttpApiSchema.asMultipart())

export const createVideo = HttpApiEndpoint.post("createVideo", "/videos", {
  payload: [VideoBody, Form],
  success: VideoWire,
  error: [...commonErrors, InvalidRequest, NotEnded, QuotaSpent, TooLarge, Overloaded]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "createVideo",
    summary: "Order a video",
    description:
      "The video is made in the background: poll it until its status is `completed` or `failed`, then download it. Its " +
      "price is held now and charged when it is completed; a failed video costs nothing. The image in `input_reference` is " +
      "PNG, JPEG or WebP, and must match its content type where it states one. With an `Idempotency-Key` a repeated order makes only one video."
  })
)

export const listVideos = HttpApiEndpoint.get("listVideos", "/videos", {
  success: VideoListWire,
  error: [...commonErrors, InvalidRequest]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "listVideos",
    summary: "List videos",
    transform: withParameters(
      { name: "limit", in: "query", description: "1 to 100, default 20" },
      { name: "after", in: "query", description: "The id of the last video of the previous page" },
      { name: "order", in: "query", description: "By age: `asc` or `desc` (default)" }
    )
  })
)

export const getVideo = HttpApiEndpoint.get("getVideo", "/videos/:id", {
  params,
  success: VideoWire,
  error: commonErrors
}).annotateMerge(OpenApi.annotations({ identifier: "getVideo", summary: "Show a video" }))

export const deleteVideo = HttpApiEndpoint.delete("deleteVideo", "/videos/:id", {
  params,
  success: VideoDeletedWire,
  error: [...commonErrors, NotEnded]
}).annotateMerge(
  OpenApi.annotations({ identifier: "deleteVideo", summary: "Delete a video that is completed or failed" })
)

const bytes = {
  params,
  success: HttpApiSchema.StreamUint8Array({ contentType: "video/mp4" }),
  error: [...commonErrors, InvalidRequest, RangeNotSatisfiable, UpstreamBroken, Overloaded, TimedOut]
} as const

/** A complete response and a partial one have the same content type. */
const withRanges = (operation: Operation): Operation => {
  const responses = operation["responses"] as Readonly<Record<string, object>>
  return withParameters(
    { name: "Range", in: "header", description: "One range of bytes, such as `bytes=0-99`" },
    { name: "variant", in: "query", description: "Only `video`" }
  )({ ...operation, responses: { ...responses, 206: { ...responses["200"], description: "A part" } } })
}

const description =
  "One `Range` of bytes is supported (206). A video that is not completed yields 404 `video_not_ready`."

export const downloadVideo = HttpApiEndpoint.get("downloadVideo", "/videos/:id/download", bytes).annotateMerge(
  OpenApi.annotations({
    identifier: "downloadVideo",
    summary: "Download a completed video as MP4",
    description,
    transform: withRanges
  })
)

export const videoContent = HttpApiEndpoint.get("videoContent", "/videos/:id/content", bytes).annotateMerge(
  OpenApi.annotations({
    identifier: "getVideoContent",
    summary: "Download a completed video as MP4, at the path of OpenAI's clients",
    description,
    transform: withRanges
  })
)
