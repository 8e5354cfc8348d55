/** A request whose answer comes whole: vectors of texts, pictures of a prompt, speech, or what is said in a sound. */
import { decodeEmbedding } from "@sluice/domain/inference/embeddings/EmbeddingRequest"
import { Embeddings } from "@sluice/domain/inference/embeddings/Embeddings"
import { decodeImage } from "@sluice/domain/inference/images/ImageRequest"
import { Images } from "@sluice/domain/inference/images/Images"
import { Speech } from "@sluice/domain/inference/audio/Speech"
import { decodeSpeech } from "@sluice/domain/inference/audio/SpeechRequest"
import { decodeTranscription } from "@sluice/domain/inference/audio/TranscriptionRequest"
import { Transcriptions } from "@sluice/domain/inference/audio/Transcriptions"
import { Effect, Result } from "effect"
import type { Ask } from "../plan/Plan.ts"
import type { Services } from "../server/SimulatedServer.ts"
import { request } from "./Requests.ts"
import type { Said } from "./Tally.ts"
import type { UserContext } from "./UserContext.ts"

export const ask = (users: UserContext, item: Ask): Effect.Effect<void> =>
  Effect.asVoid(
    request(users, {
      kind: item.kind,
      id: item.id,
      hangUpAfterMs: item.hangUpAfterMs,
      answer: ASK[item.kind](users, item)
    })
  )

/** It begins with its own name: by that the world tells questions apart. */
const wordsOf = (item: Ask): string =>
  [item.id, ...Array.from({ length: item.words }, (_, i) => `word${i % 7}`)].join(" ")

type Asked = (users: UserContext, item: Ask) => Effect.Effect<Said, unknown, Services>

const ASK: Readonly<Record<Ask["kind"], Asked>> = {
  embeddings: (users, item) =>
    Effect.gen(function* () {
      const principal = yield* users.principal(item.workspace)
      const input = Array.from({ length: item.count }, (_, n) => `${wordsOf(item)} ${n}`)
      const asked = Result.getOrThrow(decodeEmbedding({ model: "sluice-embed-small", input, dimensions: 8 }))
      const { cost, vectors } = yield* (yield* Embeddings).embed(principal, item.id, asked)
      return { text: `${vectors.length} vectors`, cost }
    }),
  images: (users, item) =>
    Effect.gen(function* () {
      const principal = yield* users.principal(item.workspace)
      const body = { model: "sluice-image", prompt: wordsOf(item), n: item.count }
      const { cost, images } = yield* (yield* Images).generate(principal, item.id, Result.getOrThrow(decodeImage(body)))
      return { text: `${images.length} pictures`, cost }
    }),
  speech: (users, item) =>
    Effect.gen(function* () {
      const principal = yield* users.principal(item.workspace)
      const asked = Result.getOrThrow(decodeSpeech({ model: "sluice-voice", input: wordsOf(item) }))
      const { cost, sound } = yield* (yield* Speech).speak(principal, item.id, asked)
      return { text: `${sound.length} bytes`, cost }
    }),
  transcriptions: (users, item) =>
    Effect.gen(function* () {
      const principal = yield* users.principal(item.workspace)
      // The path is what is said in it.
      const path = wordsOf(item)
      const file = { content: new Blob([path]), path, name: "sound.mp3" }
      const asked = Result.getOrThrow(decodeTranscription({ model: "sluice-listen" }, file))
      const { cost, transcript } = yield* (yield* Transcriptions).transcribe(principal, item.id, asked)
      return { text: transcript.text, cost }
    })
}
