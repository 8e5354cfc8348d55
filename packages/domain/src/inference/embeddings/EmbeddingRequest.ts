/**
 * Decodes the body of POST /embeddings, as OpenAI's clients send it: texts or arrays of token ids, one or many.
 * OpenAI's clients request base64 by default.
 */
import type { EmbeddingInput } from "../../models/ModelProvider.ts"
import { Result, Schema } from "effect"
import { bodyDecoder, invalid } from "../../models/BodyCheck.ts"
import { opt } from "../chat/ChatBody.ts"
import type { ModelRequestInvalid } from "../../models/InferenceErrors.ts"

const MAX_INPUTS = 2_048

/**
 * Maximum token ids of one body: a few more than a request may have, so that the limit of the request is reported and
 * not that of the body.
 */
export const MAX_IDS = 310_000

export interface EmbeddingRequest {
  readonly model: string
  readonly inputs: ReadonlyArray<EmbeddingInput>
  /** The input is a single text, not a list. */
  readonly isSingle: boolean
  /** Undefined: as many as the model has. */
  readonly dimensions: number | undefined
  readonly base64: boolean
}

const MAX_ID = 1_000_000
const TokenIds = Schema.Array(
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_ID }, { expected: "the id of a token" }))
).check(Schema.isMinLength(1, { expected: "at least one token" }))

const common = {
  model: Schema.String.check(Schema.isBetweenLength(1, 256, { expected: "the id of a model" })),
  dimensions: opt(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1, { expected: "an integer of at least 1" }))),
  encoding_format: opt(Schema.Literals(["float", "base64"])),
  user: opt(Schema.String)
}

/** The body's schema for the documents. */
export const EmbeddingBody = Schema.Struct({
  ...common,
  input: Schema.Union([Schema.String, Schema.Array(Schema.String), TokenIds, Schema.Array(TokenIds)])
})

/**
 * The schema for decoding. Input is checked by hand: for hundreds of thousands of ids that takes a tenth of the time
 * that a union takes.
 */
const decode = bodyDecoder(Schema.Struct({ ...common, input: Schema.Unknown }), "free")

/** Decodes a parsed JSON body. */
export const decodeEmbedding = (body: unknown): Result.Result<EmbeddingRequest, ModelRequestInvalid> =>
  Result.flatMap(decode(body), ({ dimensions, encoding_format, input, model }) =>
    Result.map(inputsOf(input), (inputs) => ({
      model,
      inputs,
      isSingle: inputs[0] === input,
      dimensions: dimensions ?? undefined,
      base64: encoding_format === "base64"
    }))
  )

const inputsOf = (input: unknown): Result.Result<ReadonlyArray<EmbeddingInput>, ModelRequestInvalid> => {
  if (typeof input === "string") return input === "" ? empty("input") : Result.succeed([input])
  if (!Array.isArray(input)) return invalidValue("input", "Expected a string or an array")
  const items: ReadonlyArray<unknown> = input
  if (typeof items[0] === "number") return Result.map(idsOf(items, "input"), (ids) => [ids])
  if (items.length === 0 || items.length > MAX_INPUTS) {
    return invalidValue("input", `from 1 to ${MAX_INPUTS} texts, not ${items.length}`)
  }
  const inputs: Array<EmbeddingInput> = []
  for (const [index, item] of items.entries()) {
    const decoded =
      typeof item === typeof items[0] ? inputOf(item, `input.${index}`) : invalidValue(`input.${index}`, MIXED_INPUTS)
    if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
    inputs.push(decoded.success)
  }
  return Result.succeed(inputs)
}

const MIXED_INPUTS = "Expected all texts to be strings, or all to be arrays of token ids"

const inputOf = (item: unknown, path: string): Result.Result<EmbeddingInput, ModelRequestInvalid> => {
  if (item === "") return empty(path)
  if (typeof item === "string") return Result.succeed(item)
  return Array.isArray(item) ? idsOf(item, path) : invalidValue(path, "Expected a string, or an array of token ids")
}

const idsOf = (
  ids: ReadonlyArray<unknown>,
  path: string
): Result.Result<ReadonlyArray<number>, ModelRequestInvalid> => {
  if (ids.length === 0) return empty(path)
  const bad = ids.findIndex((id) => !Number.isInteger(id) || (id as number) < 0 || (id as number) > MAX_ID)
  return bad < 0
    ? Result.succeed(ids as ReadonlyArray<number>)
    : invalidValue(`${path}.${bad}`, `Expected the id of a token, an integer from 0 to ${MAX_ID}`)
}

const invalidValue = (param: string, why: string) => invalid(param, `Invalid value for '${param}': ${why}`)
const empty = (param: string) => invalidValue(param, "an empty text has no embedding")
