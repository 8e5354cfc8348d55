/**
 * Decodes the body of POST /videos (decisions: Inference surface): JSON, or a form as OpenAI's clients send it. An
 * image is a file of the form, a `data:` URL, or a link that must still be fetched (`LinkedVideoImage.ts`).
 */
import { Result, Schema } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { noNul } from "../database/StoredText.ts"
import { MAX_IDEMPOTENCY_KEY } from "../idempotency/IdempotencyKey.ts"
import { bodyDecoder, invalid } from "../models/BodyCheck.ts"
import { dataUrlHead, plainBase64 } from "../models/DataUrl.ts"
import { ImageUrl, opt } from "../inference/chat/ChatBody.ts"
import { IMAGE_FORMATS, imageFormatOf, imageType } from "../models/ImageFormat.ts"
import { isLink } from "../inference/images/ImageUrl.ts"
import type { ModelRequestInvalid } from "../models/InferenceErrors.ts"

/** UTF-16 units. */
export const MAX_VIDEO_PROMPT = 32_000
/** Maximum bytes of an image, which is stored until the model has it. */
export const MAX_VIDEO_IMAGE_BYTES = 8_388_608
const IMAGE_TYPES: ReadonlyArray<string> = IMAGE_FORMATS.map(imageType)

/** The first frame of a video. */
export interface VideoImage {
  readonly bytes: Uint8Array
  readonly contentType: string
}

export interface VideoRequest {
  readonly model: string
  readonly prompt: string
  /** Undefined: the model's default. */
  readonly size: string | undefined
  readonly seconds: number | undefined
  readonly image: VideoImage | undefined
  /** The link to the image, if the caller did not send the image. */
  readonly imageLink?: string | undefined
  /** The idempotency key of the order: two orders with one key are one. */
  readonly idempotencyKey?: string | undefined
}

const FILE_ID = "input_reference.file_id"

export const VideoBody = Schema.Struct({
  model: Schema.String.check(Schema.isBetweenLength(1, 256, { expected: "the id of a model" })),
  prompt: Schema.String.check(
    Schema.isBetweenLength(1, MAX_VIDEO_PROMPT, { expected: `from 1 to ${MAX_VIDEO_PROMPT} characters` }),
    noNul
  ),
  seconds: opt(
    Schema.Union([
      Schema.Int,
      Schema.String.check(Schema.isPattern(/^\d{1,4}$/, { expected: "whole seconds, such as 4" }))
    ])
  ),
  size: opt(Schema.String),
  /** `file_id` is not supported, and is declared so that the order is refused instead of made without its image. */
  input_reference: opt(Schema.Struct({ image_url: opt(ImageUrl), file_id: opt(Schema.String) }))
})

const decode = bodyDecoder(VideoBody)

/** Decodes a body. `image`: the file `input_reference` of a form. */
export const decodeVideo = (
  body: unknown,
  { idempotencyKey, image }: { readonly idempotencyKey?: string | undefined; readonly image?: VideoImage } = {}
): Result.Result<VideoRequest, ModelRequestInvalid> => {
  if (idempotencyKey !== undefined && (idempotencyKey === "" || idempotencyKey.length > MAX_IDEMPOTENCY_KEY)) {
    return invalid(
      "Idempotency-Key",
      `Invalid value for 'Idempotency-Key': from 1 to ${MAX_IDEMPOTENCY_KEY} characters`
    )
  }
  return Result.flatMap(decode(body), (given) => {
    const reference = given.input_reference ?? undefined
    if ((reference?.file_id ?? null) !== null) {
      return invalid(FILE_ID, `Invalid value for '${FILE_ID}': files are not stored here; send the image itself`)
    }
    if (reference !== undefined && image !== undefined)
      return invalidImage("comes as a file or as image_url, not as both")
    // A reference without image_url is refused like an invalid URL.
    const url = reference === undefined ? undefined : (reference.image_url ?? "")
    const imageLink = url !== undefined && isLink(url) ? url : undefined
    return Result.flatMap(imageLink === undefined ? imageOf(url, image) : NO_IMAGE, (videoImage) =>
      Result.succeed({
        model: given.model,
        // As the database stores it, so that a repeated order compares equal.
        prompt: given.prompt.toWellFormed(),
        size: given.size ?? undefined,
        seconds: given.seconds === undefined || given.seconds === null ? undefined : Number(given.seconds),
        image: videoImage,
        imageLink,
        idempotencyKey
      })
    )
  })
}

const NO_IMAGE = Result.succeed(undefined)

const imageOf = (
  url: string | undefined,
  file: VideoImage | undefined
): Result.Result<VideoImage | undefined, ModelRequestInvalid> => {
  if (file !== undefined) return checkImage(withDetectedType(file))
  return url === undefined ? NO_IMAGE : decodeDataUrl(url)
}

/** Clients that do not inspect a file send it without a type or as plain bytes; its type is then found by its bytes. */
const withDetectedType = (file: VideoImage): VideoImage => {
  const format = UNSPECIFIC_TYPES.has(file.contentType) ? imageFormatOf(file.bytes) : undefined
  return format === undefined ? file : { bytes: file.bytes, contentType: imageType(format) }
}

/** The last one is S3's default type. */
const UNSPECIFIC_TYPES = new Set(["", "application/octet-stream", "binary/octet-stream"])

/** Returns the image in a `data:` URL. If the URL names no image type, the bytes decide. */
export const decodeDataUrl = (url: string): Result.Result<VideoImage, ModelRequestInvalid> => {
  const head = dataUrlHead(url)
  if (head === undefined) return invalidImage(NOT_DATA_URL)
  const data = plainBase64(url.slice(head.length))
  if (data === undefined) return invalidImage("must be a data: URL in base64")
  const contentType = head.mediaType.startsWith("image/") ? head.mediaType : ""
  return checkImage(withDetectedType({ bytes: Result.getOrThrow(Base64.decode(data)), contentType }))
}

const checkImage = (image: VideoImage): Result.Result<VideoImage, ModelRequestInvalid> => {
  if (!IMAGE_TYPES.includes(image.contentType)) return invalidImage(`must be ${IMAGE_TYPES.join(", ")}`)
  if (image.bytes.length === 0) return invalidImage("is empty")
  if (image.bytes.length > MAX_VIDEO_IMAGE_BYTES) return invalidImage(`may have at most ${MAX_VIDEO_IMAGE_BYTES} bytes`)
  const format = imageFormatOf(image.bytes)
  if (format === undefined || imageType(format) !== image.contentType) {
    return invalidImage(`is not ${image.contentType} by its bytes`)
  }
  return Result.succeed(image)
}

/** The message for text that is no URL of an image. A link that is not allowed gets the same message. */
export const NOT_DATA_URL =
  "must be a data: URL in base64; http(s) links where the operator allows them (--allow-image-urls)"

export const invalidImage = (why: string) =>
  invalid("input_reference", `Invalid value for 'input_reference': the image ${why}`)
