/**
 * Decodes the form of POST /audio/transcriptions (decisions: Inference surface), as OpenAI's clients send it. All
 * fields are texts; the name of a list field ends with `[]`.
 */
import { Result, Schema } from "effect"
import { bodyDecoder, invalid } from "../../models/BodyCheck.ts"
import type { ModelRequestInvalid } from "../../models/InferenceErrors.ts"

/** Maximum bytes of a file (decisions: 25 MB). */
export const MAX_SOUND_BYTES = 26_214_400
export const TRANSCRIPT_FORMATS = ["json", "text", "srt", "verbose_json", "vtt"] as const
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number]

export interface TranscriptionRequest {
  readonly model: string
  readonly file: Blob
  readonly path: string
  readonly fileName: string
  /** ISO 639-1. */
  readonly language: string | undefined
  readonly prompt: string | undefined
  readonly format: TranscriptFormat
  readonly temperature: number | undefined
  readonly stream: boolean
  /** Return the times of words; only `verbose_json` has them. */
  readonly words: boolean
  /** Return the times of segments. */
  readonly segments: boolean
}

const Text = (maxLength: number) =>
  Schema.String.check(Schema.isMaxLength(maxLength, { expected: `at most ${maxLength} characters` }))
const Temperature = Schema.String.check(
  Schema.makeFilter(
    (text: string) => text.trim() !== "" && text.length <= 32 && Number(text) >= 0 && Number(text) <= 1,
    {
      expected: "a number from 0 to 1"
    }
  )
)
const GRANULARITY = "timestamp_granularities[]"

const Fields = Schema.Struct({
  model: Schema.String.check(Schema.isBetweenLength(1, 256, { expected: "the id of a model" })),
  language: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[a-z]{2,3}$/, { expected: "a code of ISO 639-1, such as en" }))
  ),
  prompt: Schema.optionalKey(Text(4_096)),
  response_format: Schema.optionalKey(Schema.Literals(TRANSCRIPT_FORMATS)),
  temperature: Schema.optionalKey(Temperature),
  stream: Schema.optionalKey(Schema.Literals(["true", "false"])),
  [GRANULARITY]: Schema.optionalKey(
    Schema.Union([Schema.Literals(["word", "segment"]), Schema.Array(Schema.Literals(["word", "segment"]))])
  )
})

const decode = bodyDecoder(Fields)

/** Decodes the fields of a form. `file` undefined: the form has no file. */
export const decodeTranscription = (
  fields: Readonly<Record<string, unknown>>,
  file: { readonly content: Blob; readonly path: string; readonly name: string } | undefined
): Result.Result<TranscriptionRequest, ModelRequestInvalid> =>
  Result.flatMap(decode(fields), (given) => {
    if (file === undefined) return invalid("file", "Invalid value for 'file': send the sound as a file of the form")
    if (file.content.size === 0) return invalid("file", "Invalid value for 'file': the file is empty")
    const format = given.response_format ?? "json"
    const requested = given[GRANULARITY]
    const granularities = requested === undefined ? [] : typeof requested === "string" ? [requested] : requested
    if (granularities.length > 0 && format !== "verbose_json") {
      return invalid(GRANULARITY, `Invalid value for '${GRANULARITY}': only response_format verbose_json has times`)
    }
    const stream = given.stream === "true"
    if (stream && format !== "json" && format !== "text") {
      return invalid("stream", `Invalid value for 'stream': a stream has text only, not ${format}`)
    }
    return Result.succeed({
      model: given.model,
      file: file.content,
      path: file.path,
      fileName: file.name,
      language: given.language,
      prompt: given.prompt,
      format,
      temperature: given.temperature === undefined ? undefined : Number(given.temperature),
      stream,
      words: granularities.includes("word"),
      segments: granularities.length === 0 || granularities.includes("segment")
    })
  })
