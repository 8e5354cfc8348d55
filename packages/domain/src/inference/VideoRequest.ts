/**
 * The body of POST /videos (decisions: Inference surface), JSON or a form as OpenAI's clients send it, checked. A picture
 * comes as a file of the form or as a `data:` URL.
 */
import { Result, Schema } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { noNul } from "../database/StoredText.ts"
import { bodyDecoder, invalid } from "./BodyCheck.ts"
import type { ChatInvalid } from "./InferenceErrors.ts"

/** UTF-16 units. */
export const MAX_VIDEO_PROMPT = 32_000
/** Bytes of a picture: it is kept until the model has it. */
export const MAX_PICTURE_BYTES = 8_388_608
const PICTURE_TYPES = ["image/png", "image/jpeg", "image/webp"]

export interface Picture {
  readonly bytes: Uint8Array
  readonly contentType: string
}

export interface VideoRequest {
  readonly model: string
  readonly prompt: string
  /** Undefined: the model's first. */
  readonly size: string | undefined
  readonly seconds: number | undefined
  readonly picture: Picture | undefined
  /** The caller's name for this order: said twice, it is one order. */
  readonly idempotencyKey?: string | undefined
}

const MAX_KEY = 255

const opt = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

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
  input_reference: opt(Schema.Struct({ image_url: Schema.String }))
})

const decode = bodyDecoder(VideoBody)

/** `picture`: the file `input_reference` of a form. */
export const decodeVideo = (
  body: unknown,
  { idempotencyKey, picture }: { readonly idempotencyKey?: string | undefined; readonly picture?: Picture } = {}
): Result.Result<VideoRequest, ChatInvalid> => {
  if (idempotencyKey !== undefined && (idempotencyKey === "" || idempotencyKey.length > MAX_KEY)) {
    return invalid("Idempotency-Key", `Invalid value for 'Idempotency-Key': from 1 to ${MAX_KEY} characters`)
  }
  return Result.flatMap(decode(body), (given) =>
    Result.flatMap(pictureOf(given.input_reference?.image_url, picture), (found) =>
      Result.succeed({
        model: given.model,
        prompt: given.prompt,
        size: given.size ?? undefined,
        seconds: given.seconds === undefined || given.seconds === null ? undefined : Number(given.seconds),
        picture: found,
        idempotencyKey
      })
    )
  )
}

const pictureOf = (
  url: string | undefined,
  file: Picture | undefined
): Result.Result<Picture | undefined, ChatInvalid> => {
  if (file !== undefined) return checked(file)
  if (url === undefined) return Result.succeed(undefined)
  const parts = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/.exec(url.slice(0, 100))
  if (parts === null) return refused("must be a data: URL in base64; links are not followed")
  const bytes = Base64.decode(url.slice(parts[0].length))
  return Result.isFailure(bytes)
    ? refused("must be a data: URL in base64")
    : checked({ bytes: bytes.success, contentType: parts[1]! })
}

const checked = (picture: Picture): Result.Result<Picture, ChatInvalid> => {
  if (!PICTURE_TYPES.includes(picture.contentType)) return refused(`must be ${PICTURE_TYPES.join(", ")}`)
  if (picture.bytes.length === 0) return refused("is empty")
  if (picture.bytes.length > MAX_PICTURE_BYTES) return refused(`may have at most ${MAX_PICTURE_BYTES} bytes`)
  return Result.succeed(picture)
}

const refused = (why: string) => invalid("input_reference", `Invalid value for 'input_reference': the picture ${why}`)
