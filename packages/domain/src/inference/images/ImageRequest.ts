/** Decodes the body of POST /images/generations, as OpenAI's clients send it. */
import { Result, Schema } from "effect"
import { bodyDecoder, invalid } from "../../models/BodyCheck.ts"
import { opt } from "../chat/ChatBody.ts"
import { IMAGE_FORMATS } from "../../models/ImageFormat.ts"
import type { ModelRequestInvalid } from "../../models/InferenceErrors.ts"

const MAX_IMAGES = 10
/** UTF-16 units. */
const MAX_PROMPT = 32_000

export interface ImageRequest {
  readonly model: string
  readonly prompt: string
  readonly count: number
  /** Width x height in pixels, as the caller wrote it; undefined: the model's default. */
  readonly size: string | undefined
  /** Return links instead of the files. */
  readonly asLinks: boolean
}

export const ImageBody = Schema.Struct({
  model: Schema.String.check(Schema.isBetweenLength(1, 256, { expected: "the id of a model" })),
  prompt: Schema.String.check(
    Schema.isBetweenLength(1, MAX_PROMPT, { expected: `from 1 to ${MAX_PROMPT} characters` })
  ),
  n: opt(
    Schema.Int.check(
      Schema.isBetween({ minimum: 1, maximum: MAX_IMAGES }, { expected: `an integer from 1 to ${MAX_IMAGES}` })
    )
  ),
  size: opt(Schema.String),
  response_format: opt(Schema.Literals(["b64_json", "url"])),
  output_format: opt(Schema.Literals(IMAGE_FORMATS)),
  quality: opt(Schema.String),
  style: opt(Schema.String),
  background: opt(Schema.String),
  moderation: opt(Schema.String),
  stream: opt(Schema.Boolean),
  user: opt(Schema.String)
})

const decode = bodyDecoder(ImageBody)

/** Decodes a parsed JSON body. */
export const decodeImage = (body: unknown): Result.Result<ImageRequest, ModelRequestInvalid> =>
  Result.flatMap(decode(body), (given) => {
    const unsupported = UNSUPPORTED.find(({ isRequested }) => isRequested(given))
    if (unsupported !== undefined)
      return invalid(unsupported.param, `Invalid value for '${unsupported.param}': ${unsupported.message}`)
    const size = given.size ?? undefined
    return Result.succeed({
      model: given.model,
      prompt: given.prompt,
      count: given.n ?? 1,
      size: size === "auto" ? undefined : size,
      asLinks: given.response_format === "url"
    })
  })

/**
 * Options of OpenAI's body that this service does not have. They are refused, because an answer without them would not
 * be the requested one.
 */
const UNSUPPORTED: ReadonlyArray<{
  readonly param: string
  readonly isRequested: (body: typeof ImageBody.Type) => boolean
  readonly message: string
}> = [
  {
    param: "output_format",
    isRequested: (body) => (body.output_format ?? "png") !== "png",
    message: "the model decides the format, and the answer names it; leave it out"
  },
  { param: "stream", isRequested: (body) => body.stream === true, message: "images are not streamed; leave it out" }
]
