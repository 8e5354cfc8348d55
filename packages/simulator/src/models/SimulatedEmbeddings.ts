/**
 * Embeddings in which similar texts are nearer to each other: each word, and each three letters of a word, turn a
 * vector a little into a direction of their own. The same text always has the same vector. Fewer dimensions are the
 * first of them, at length one.
 */
import type { EmbeddingInput, EmbeddingModel, EmbeddingProvider } from "@sluice/domain/models/ModelProvider"
import { Effect } from "effect"
import { textHash } from "./Draws.ts"

/** Dimensions that each feature changes. */
const DIMENSIONS_PER_FEATURE = 8
/** The weight of a whole word. A part of a word weighs 1. */
const WORD_WEIGHT = 3

export const simulatedEmbeddings = (seed: number, models: ReadonlyArray<EmbeddingModel>): EmbeddingProvider => ({
  models,
  embed: (model, inputs, dimensions) => {
    const key = textHash(seed, model.id)
    const vectors = Effect.forEach(inputs, (input) =>
      // One text at a time, so that a long list does not block other requests.
      Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => vectorOf(input, key, model.dimensions, dimensions))
      )
    )
    return Effect.map(vectors, (all) => ({ vectors: all }))
  }
})

/** Returns the vector of a text, at length one. `all`: the dimensions of the model; `kept`: those that are returned. */
const vectorOf = (input: EmbeddingInput, key: number, all: number, kept: number): Float32Array => {
  const sums = new Float64Array(all)
  const add = (feature: string, weight: number) => {
    let hash = textHash(key, feature)
    for (let i = 0; i < DIMENSIONS_PER_FEATURE; i++) {
      hash = textHash(hash, "")
      sums[(hash >>> 1) % all]! += (hash & 1) === 0 ? weight : -weight
    }
  }
  for (const word of wordsOf(input)) {
    add(word, WORD_WEIGHT)
    for (let i = 0; i + 3 <= word.length; i++) add(`#${word.slice(i, i + 3)}`, 1)
  }
  const part = sums.subarray(0, kept)
  const length = Math.hypot(...part) || 1
  const vector = new Float32Array(kept)
  // A text that changes none of the kept dimensions has a vector too.
  if (part.every((value) => value === 0)) vector[textHash(key, "nothing") % kept] = 1
  else for (let i = 0; i < kept; i++) vector[i] = part[i]! / length
  return vector
}

const wordsOf = (input: EmbeddingInput): ReadonlyArray<string> =>
  typeof input === "string" ? (input.toLowerCase().match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? []) : input.map(String)
