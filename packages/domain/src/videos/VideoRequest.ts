/**
 * The body of POST /videos (decisions: Inference surface), JSON or a form as OpenAI's clients send it, checked. An image
 * comes as a file of the form, as a `data:` URL, or as a link that is yet to be followed (`LinkedVideoImage.ts`).
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
/** Bytes of an image: it is kept until the model has it. */
export const MAX_VIDEO_IMAGE_BYTES = 8_388_608
const IMAGE_TYPES: ReadonlyArray<string> = IMAGE_FORMATS.map(imageType)

/** What a video begins with. */
export interface VideoImage {
  readonly bytes: Uint8Array
  readonly contentType: string
}

export interface VideoRequest {
  readonly model: string
  readonly prompt: string
  /** Undefined: the model's first. */
  readonly size: string | undefined
  readonly seconds: number | undefined
  readonly image: VideoImage | undefined
  /** Where the image is, of a caller who did not send it. */
  readonly imageLink?: string | undefined
  /** The caller's name for this order: said twice, it is one order. */
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
  /** What can't be here is named, so that no video is made without its image. */
  input_reference: opt(Schema.Struct({ image_url: opt(ImageUrl), file_id: opt(Schema.String) }))
})

const decode = bodyDecoder(VideoBody)

/** `image`: the file `input_reference` of a form. */
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
    if (reference !== undefined && image !== undefined) return refused("comes as a file or as image_url, not as both")
    // Without one it is no URL of an image.
    const url = reference === undefined ? undefined : (reference.image_url ?? "")
    const imageLink = url !== undefined && isLink(url) ? url : undefined
    return Result.flatMap(imageLink === undefined ? imageOf(url, image) : NO_IMAGE, (found) =>
      Result.succeed({
        model: given.model,
        // As the database keeps it, so that the order said again is the same.
        prompt: given.prompt.toWellFormed(),
        size: given.size ?? undefined,
        seconds: given.seconds === undefined || given.seconds === null ? undefined : Number(given.seconds),
        image: found,
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
  if (file !== undefined) return checked(typed(file))
  return url === undefined ? NO_IMAGE : imageIn(url)
}

/** Clients that don't look at a file send it without a type, or as just bytes: it is what these are. */
const typed = (file: VideoImage): VideoImage => {
  const format = UNSTATED.has(file.contentType) ? imageFormatOf(file.bytes) : undefined
  return format === undefined ? file : { bytes: file.bytes, contentType: imageType(format) }
}

/** The last is what S3 says of what nobody described. */
const UNSTATED = new Set(["", "application/octet-stream", "binary/octet-stream"])

/** The image in a `data:` URL. One that is called no image at all is what its bytes are. */
export const imageIn = (url: string): Result.Result<VideoImage, ModelRequestInvalid> => {
  const head = dataUrlHead(url)
  if (head === undefined) return refused(NO_DATA)
  const data = plainBase64(url.slice(head.length))
  if (data === undefined) return refused("must be a data: URL in base64")
  const contentType = head.mediaType.startsWith("image/") ? head.mediaType : ""
  return checked(typed({ bytes: Result.getOrThrow(Base64.decode(data)), contentType }))
}

const checked = (image: VideoImage): Result.Result<VideoImage, ModelRequestInvalid> => {
  if (!IMAGE_TYPES.includes(image.contentType)) return refused(`must be ${IMAGE_TYPES.join(", ")}`)
  if (image.bytes.length === 0) return refused("is empty")
  if (image.bytes.length > MAX_VIDEO_IMAGE_BYTES) return refused(`may have at most ${MAX_VIDEO_IMAGE_BYTES} bytes`)
  const format = imageFormatOf(image.bytes)
  if (format === undefined || imageType(format) !== image.contentType) {
    return refused(`is not ${image.contentType} by its bytes`)
  }
  return Result.succeed(image)
}

/** Links that are not allowed are refused in the same words as what is no URL of an image at all. */
export const NO_DATA =
  "must be a data: URL in base64; http(s) links where the operator allows them (--allow-image-urls)"

export const refused = (why: string) =>
  invalid("input_reference", `Invalid value for 'input_reference': the image ${why}`)
