/**
 * POST /embeddings over the domain's `Embeddings`. Vectors are encoded one at a time, so that a long list does not
 * block the event loop.
 */
import { embeddingListText, embeddingText } from "@sluice/api/inference/embeddings/EmbeddingWire"
import { decodeEmbedding, MAX_IDS } from "@sluice/domain/inference/embeddings/EmbeddingRequest"
import { Embeddings } from "@sluice/domain/inference/embeddings/Embeddings"
import { Effect } from "effect"
import { type Caller, json } from "../CallerGate.ts"
import { type Routed, RoutedRequests } from "../RoutedRequests.ts"

export const makeEmbeddings = Effect.gen(function* () {
  const embeddings = yield* Embeddings
  const { withJson } = yield* RoutedRequests

  const answerOf = Effect.fnUntraced(function* (caller: Caller, body: unknown) {
    const request = yield* Effect.fromResult(decodeEmbedding(body))
    const answer = yield* embeddings.embed(caller.principal, caller.requestId, request)
    const data = yield* Effect.forEach(answer.vectors, (vector, index) =>
      Effect.as(Effect.yieldNow, embeddingText(index, request.base64 ? base64(vector) : floats(vector)))
    )
    return json(200, embeddingListText(data, answer), caller.headers)
  })

  return ({ request }: Routed) => withJson(request, answerOf, MAX_IDS)
})

const floats = (vector: Float32Array): string => JSON.stringify(Array.from(vector))

/** All supported platforms are little-endian. */
const base64 = ({ buffer, byteLength, byteOffset }: Float32Array): string =>
  `"${Buffer.from(buffer, byteOffset, byteLength).toString("base64")}"`
