/**
 * The body of POST /embeddings, as OpenAI's clients send it, checked: texts or arrays of token ids, one or many. Their
 * clients ask for base64 unless told otherwise.
 */
import type { EmbeddingInput } from "../../models/ModelProvider.ts"
import { Result, Schema } from "effect"
import { bodyDecoder, invalid } from "../../models/BodyCheck.ts"
import { opt } from "../chat/ChatBody.ts"
import type { ModelRequestInvalid } from "../../models/InferenceErrors.ts"

const MAX_INPUTS = 2_048

/** Ids of tokens in one body: a few more than a request may have, so that it is told so. */
export const MAX_IDS = 310_000

export interface EmbeddingRequest {
  readonly model: string
  readonly inputs: ReadonlyArray<EmbeddingInput>
  /** It came by itself, not in a list of texts. */
  readonly alone: boolean
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

/** As documents show it. */
export const EmbeddingBody = Schema.Struct({
  ...common,
  input: Schema.Union([Schema.String, Schema.Array(Schema.String), TokenIds, Schema.Array(TokenIds)])
})

/** What is decoded: hundreds of thousands of ids are checked by hand, in a tenth of the time that a union takes to refuse one. */
const decode = bodyDecoder(Schema.Struct({ ...common, input: Schema.Unknown }), "free")

/** Checks a parsed JSON body. */
export const decodeEmbedding = (body: unknown): Result.Result<EmbeddingRequest, ModelRequestInvalid> =>
  Result.flatMap(decode(body), ({ dimensions, encoding_format, input, model }) =>
    Result.map(inputsOf(input), (inputs) => ({
      model,
      inputs,
      alone: inputs[0] === input,
      dimensions: dimensions ?? undefined,
      base64: encoding_format === "base64"
    }))
  )

const inputsOf = (input: unknown): Result.Result<ReadonlyArray<EmbeddingInput>, ModelRequestInvalid> => {
  if (typeof input === "string") return input === "" ? empty("input") : Result.succeed([input])
  if (!Array.isArray(input)) return wrong("input", "Expected a string or an array")
  const all: ReadonlyArray<unknown> = input
  if (typeof all[0] === "number") return Result.map(idsOf(all, "input"), (ids) => [ids])
  if (all.length === 0 || all.length > MAX_INPUTS) {
    return wrong("input", `from 1 to ${MAX_INPUTS} texts, not ${all.length}`)
  }
  const inputs: Array<EmbeddingInput> = []
  for (const [at, one] of all.entries()) {
    const read = typeof one === typeof all[0] ? inputOf(one, `input.${at}`) : wrong(`input.${at}`, NOT_ALIKE)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    inputs.push(read.success)
  }
  return Result.succeed(inputs)
}

const NOT_ALIKE = "Expected all texts to be strings, or all to be arrays of token ids"

const inputOf = (one: unknown, path: string): Result.Result<EmbeddingInput, ModelRequestInvalid> => {
  if (one === "") return empty(path)
  if (typeof one === "string") return Result.succeed(one)
  return Array.isArray(one) ? idsOf(one, path) : wrong(path, "Expected a string, or an array of token ids")
}

const idsOf = (
  ids: ReadonlyArray<unknown>,
  path: string
): Result.Result<ReadonlyArray<number>, ModelRequestInvalid> => {
  if (ids.length === 0) return empty(path)
  const bad = ids.findIndex((id) => !Number.isInteger(id) || (id as number) < 0 || (id as number) > MAX_ID)
  return bad < 0
    ? Result.succeed(ids as ReadonlyArray<number>)
    : wrong(`${path}.${bad}`, `Expected the id of a token, an integer from 0 to ${MAX_ID}`)
}

const wrong = (param: string, why: string) => invalid(param, `Invalid value for '${param}': ${why}`)
const empty = (param: string) => wrong(param, "an empty text has no embedding")
