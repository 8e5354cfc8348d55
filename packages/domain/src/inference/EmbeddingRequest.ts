/**
 * The body of POST /embeddings, as OpenAI's clients send it, checked: texts or arrays of token ids, one or many. Their
 * clients ask for base64 unless told otherwise.
 */
import { Result, Schema } from "effect"
import { bodyDecoder, invalid } from "./BodyCheck.ts"
import { opt } from "./ChatBody.ts"
import type { QuestionInvalid } from "./InferenceErrors.ts"

export const MAX_INPUTS = 2_048

/** A text, or the ids of its tokens. */
export type EmbeddingInput = string | ReadonlyArray<number>

export interface EmbeddingRequest {
  readonly model: string
  readonly inputs: ReadonlyArray<EmbeddingInput>
  /** Undefined: as many as the model has. */
  readonly dimensions: number | undefined
  readonly base64: boolean
}

const TokenIds = Schema.Array(
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }, { expected: "the id of a token" }))
).check(Schema.isMinLength(1, { expected: "at least one token" }))
export const EmbeddingBody = Schema.Struct({
  model: Schema.String.check(Schema.isBetweenLength(1, 256, { expected: "the id of a model" })),
  input: Schema.Union([Schema.String, Schema.Array(Schema.String), TokenIds, Schema.Array(TokenIds)]),
  dimensions: opt(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1, { expected: "an integer of at least 1" }))),
  encoding_format: opt(Schema.Literals(["float", "base64"])),
  user: opt(Schema.String)
})

const decode = bodyDecoder(EmbeddingBody)

/** Checks a parsed JSON body. */
export const decodeEmbedding = (body: unknown): Result.Result<EmbeddingRequest, QuestionInvalid> =>
  Result.flatMap(decode(body), ({ dimensions, encoding_format, input, model }) => {
    const inputs = inputsOf(input)
    if (inputs.length === 0 || inputs.length > MAX_INPUTS) {
      return invalid("input", `Invalid value for 'input': from 1 to ${MAX_INPUTS} texts, not ${inputs.length}`)
    }
    const empty = inputs.findIndex((one) => one.length === 0)
    if (empty >= 0) {
      const param = typeof input === "string" ? "input" : `input.${empty}`
      return invalid(param, `Invalid value for '${param}': an empty text has no embedding`)
    }
    return Result.succeed({
      model,
      inputs,
      dimensions: dimensions ?? undefined,
      base64: encoding_format === "base64"
    })
  })

const inputsOf = (input: (typeof EmbeddingBody.Type)["input"]): ReadonlyArray<EmbeddingInput> => {
  if (typeof input === "string") return [input]
  return typeof input[0] === "number" ? [input as ReadonlyArray<number>] : (input as ReadonlyArray<EmbeddingInput>)
}
