/** Decodes the body of POST /audio/speech (interface; decisions: Inference surface), as OpenAI's clients send it. */
import { Result, Schema } from "effect"
import { bodyDecoder, invalid } from "../../models/BodyCheck.ts"
import { opt } from "../chat/ChatBody.ts"
import type { ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import { SPEECH_FORMATS, type SpeechFormat } from "../../models/MediaProvider.ts"

const MIN_SPEED = 0.25
const MAX_SPEED = 4

export interface SpeechRequest {
  readonly model: string
  readonly input: string
  /** Undefined: the model's default. */
  readonly voice: string | undefined
  readonly format: SpeechFormat
  readonly speed: number
  readonly instructions: string | undefined
  /** Return the sound as base64 in server-sent events instead of a file. */
  readonly events: boolean
}

const expected = `a number from ${MIN_SPEED} to ${MAX_SPEED}`

export const SpeechBody = Schema.Struct({
  model: Schema.String.check(Schema.isBetweenLength(1, 256, { expected: "the id of a model" })),
  input: Schema.String.check(Schema.isMinLength(1, { expected: "at least one character" })),
  voice: opt(Schema.Union([Schema.String, Schema.Struct({ id: Schema.String })])),
  response_format: opt(Schema.Literals(["mp3", "pcm", "wav", "opus", "aac", "flac"])),
  speed: opt(Schema.Finite.check(Schema.isBetween({ minimum: MIN_SPEED, maximum: MAX_SPEED }, { expected }))),
  instructions: opt(Schema.String.check(Schema.isMaxLength(4_096, { expected: "at most 4096 characters" }))),
  stream_format: opt(Schema.Literals(["audio", "sse"]))
})

const decode = bodyDecoder(SpeechBody)

/** Decodes a parsed JSON body. */
export const decodeSpeech = (body: unknown): Result.Result<SpeechRequest, ModelRequestInvalid> =>
  Result.flatMap(decode(body), (given) => {
    const requested = given.response_format ?? "mp3"
    const format = SPEECH_FORMATS.find((format) => format === requested)
    if (format === undefined) {
      const message = `Invalid value for 'response_format': speech comes as ${SPEECH_FORMATS.join(", ")}, not as ${requested}`
      return invalid("response_format", message)
    }
    const voice = given.voice ?? undefined
    return Result.succeed({
      model: given.model,
      input: given.input,
      voice: typeof voice === "object" ? voice.id : voice,
      format,
      speed: given.speed ?? 1,
      instructions: given.instructions ?? undefined,
      events: given.stream_format === "sse"
    })
  })
