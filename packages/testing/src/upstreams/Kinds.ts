/** Models of each kind beside chat, over the same servers. */
import { Effect, Logger } from "effect"
import { recordedServer, type Script } from "./RecordedServer.ts"
import { world } from "./UpstreamWorld.ts"

export const kinds = (upstreams: ReadonlyArray<object>) => ({
  embeddings: {
    kind: "embeddings",
    id: "e",
    dimensions: 4,
    context_length: 100,
    price_usd: { million_tokens: 0.02 },
    upstreams
  },
  images: { kind: "images", id: "i", sizes: ["64x64"], price_usd: { image: 0.04 }, upstreams },
  speech: {
    kind: "speech",
    id: "s",
    voices: ["ann"],
    max_input_characters: 100,
    price_usd: { million_characters: 15 },
    upstreams
  },
  transcription: { kind: "transcription", id: "t", price_usd: { minute: 0.006 }, upstreams },
  video: { kind: "video", id: "v", sizes: ["64x64"], seconds: [4, 8], price_usd: { second: 0.1 }, upstreams }
})

/** A server for all kinds, and the provider in front of it. */
export const over = (script: Script, more: object = {}) =>
  Effect.gen(function* () {
    const server = yield* recordedServer(script)
    const models = yield* world(Object.values(kinds([{ base_url: server.url, model: "up", ...more }])))
    return { server, models }
  })

export const reasonOf = <A>(effect: Effect.Effect<A, { readonly reason: string }>) =>
  Effect.match(effect, { onFailure: ({ reason }) => reason, onSuccess: () => "none" }).pipe(
    Effect.provide(Logger.layer([]))
  )
