/**
 * Vectors from one upstream. They are asked for in base64, as stock clients ask, and read in either form; each has the
 * asked dimensions and length one in the end, whatever the server does.
 */
import type { EmbeddingInput, Embedded, EmbeddingModel } from "@sluice/domain/models/ModelProvider"
import { Effect } from "effect"
import { bodyText } from "../upstream/BodyText.ts"
import { callFailed } from "../upstream/CallFailed.ts"
import { failureOf, isError } from "../upstream/ErrorChunk.ts"
import { field, isRecord, list, number } from "../upstream/Loose.ts"
import { json } from "../upstream/Reply.ts"
import type { Call } from "../upstream/Upstreams.ts"

/** Of a number in JSON, with what is around it. */
const BYTES_PER_NUMBER = 26
const MORE_BYTES = 1024 * 1024

export const embeddingCall =
  (model: EmbeddingModel, inputs: ReadonlyArray<EmbeddingInput>, dimensions: number): Call<Embedded, never> =>
  (lease) =>
    Effect.suspend(() => {
      const { omit, model: name } = lease.upstream
      // A model without a choice of dimensions refuses the field.
      const fewer = dimensions < model.dimensions ? dimensions : undefined
      const exchange = lease.send({
        method: "POST",
        path: "/embeddings",
        accept: "application/json",
        body: bodyText({ model: name, input: inputs, encoding_format: "base64", dimensions: fewer }, omit),
        mostBytes: inputs.length * model.dimensions * BYTES_PER_NUMBER + MORE_BYTES
      })
      return Effect.flatMap(json(exchange, lease), (value) =>
        isRecord(value) && isError(value)
          ? Effect.fail(failureOf(value, false))
          : Effect.flatMap(vectorsOf(value, inputs.length, dimensions), (vectors) =>
              vectors === undefined
                ? Effect.fail(callFailed("malformed"))
                : Effect.succeed({ vectors, tokens: tokensOf(field(value, "usage")) })
            )
      )
    })

/** Undefined: it tells none. Zero is what LocalAI tells of a backend that does not count. */
const tokensOf = (usage: unknown): number | undefined => {
  const told = number(field(usage, "prompt_tokens")) ?? number(field(usage, "total_tokens"))
  return told === undefined || told < 1 ? undefined : Math.trunc(told)
}

/** As many as were asked for, in the order of the inputs; undefined: they are not. Others get their turn between them. */
export const vectorsOf = (
  value: unknown,
  count: number,
  dimensions: number
): Effect.Effect<ReadonlyArray<Float32Array> | undefined> =>
  Effect.gen(function* () {
    const data = list(field(value, "data"))
    const vectors: Array<Float32Array | undefined> = Array.from({ length: count })
    if (data.length !== count) return undefined
    for (const [at, one] of data.entries()) {
      if (at % VECTORS_A_TURN === VECTORS_A_TURN - 1) yield* Effect.yieldNow
      const index = number(field(one, "index")) ?? at
      if (!Number.isInteger(index) || index < 0 || index >= count || vectors[index] !== undefined) return undefined
      vectors[index] = ofLengthOne(numbersOf(field(one, "embedding")), dimensions)
      if (vectors[index] === undefined) return undefined
    }
    return vectors as ReadonlyArray<Float32Array>
  })

const VECTORS_A_TURN = 32

const numbersOf = (embedding: unknown): ArrayLike<unknown> => {
  if (typeof embedding !== "string") return list(embedding)
  const bytes = Buffer.from(embedding, "base64")
  const copy = new Uint8Array(bytes.length - (bytes.length % 4))
  copy.set(bytes.subarray(0, copy.length))
  return new Float32Array(copy.buffer)
}

/** The first `dimensions` of them, which is what fewer dimensions are, scaled; undefined: they are no vector of a text. */
const ofLengthOne = (numbers: ArrayLike<unknown>, dimensions: number): Float32Array | undefined => {
  if (numbers.length < dimensions) return undefined
  let squares = 0
  for (let i = 0; i < dimensions; i++) {
    const value = numbers[i]
    if (typeof value !== "number") return undefined
    squares += value * value
  }
  const length = Math.sqrt(squares)
  if (!Number.isFinite(length) || length < SHORTEST) return undefined
  // Scaled before it is narrowed: what is small is not lost. Not by `from`, which takes ten times as long.
  const vector = new Float32Array(dimensions)
  for (let i = 0; i < dimensions; i++) vector[i] = (numbers[i] as number) / length
  return vector
}

/** Below it squares have no digits left. */
const SHORTEST = 1e-100
