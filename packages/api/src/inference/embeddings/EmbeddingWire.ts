/**
 * Answers of POST /embeddings on the wire: the schema for the OpenAPI document and clients, and the text that the
 * server sends.
 */
import { toUsd } from "@sluice/domain/billing/Money"
import type { EmbeddingAnswer } from "@sluice/domain/inference/embeddings/Embeddings"
import * as Schema from "effect/Schema"

export const EmbeddingListWire = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(
    Schema.Struct({
      object: Schema.Literal("embedding"),
      index: Schema.Int,
      embedding: Schema.Union([
        Schema.Array(Schema.Finite),
        Schema.String.annotate({ description: "base64 of the float32 values, little-endian" })
      ])
    })
  ),
  model: Schema.String,
  usage: Schema.Struct({
    prompt_tokens: Schema.Int,
    total_tokens: Schema.Int,
    cost: Schema.Finite.annotate({ description: "USD" })
  })
}).annotate({ identifier: "EmbeddingList" })

/** Returns one item of `data`. `embedding` is JSON text. */
export const embeddingText = (index: number, embedding: string): string =>
  `{"object":"embedding","index":${index},"embedding":${embedding}}`

/** Returns the body with the given items of `data`. */
export const embeddingListText = (data: ReadonlyArray<string>, { cost, model, tokens }: EmbeddingAnswer): string =>
  `{"object":"list","data":[${data.join(",")}],"model":${JSON.stringify(model)},"usage":${JSON.stringify({
    prompt_tokens: tokens,
    total_tokens: tokens,
    cost: toUsd(cost)
  })}}`
