/** Requests that only the model's server finds too long, through the stock client: the error names the field, and is free. */
import { expect, layer } from "@effect/vitest"
import { ModelProvider, type ModelProviderService } from "@sluice/domain/models/ModelProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { toFile } from "openai"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "./support/ChatServer.ts"
import { customer, failure, keys, NANO, user } from "./support/Customer.ts"

const tooLong = () => Effect.fail(new UpstreamFailed({ reason: "too_long" }))
const small = ({
  embeddings,
  images,
  speech,
  transcription,
  ...chats
}: ModelProviderService): ModelProviderService => ({
  ...chats,
  chat: tooLong,
  embeddings: { ...embeddings!, embed: tooLong },
  images: { ...images!, generate: tooLong },
  speech: { ...speech!, speak: tooLong },
  transcription: { ...transcription!, transcribe: tooLong }
})
const models = Layer.effect(ModelProvider, Effect.map(ModelProvider, small)).pipe(
  Layer.provide(simulateModels(instant(7)))
)
const Running = chatServer(keys, models).pipe(Layer.provideMerge(ownPglite))
/** A second of silence: 8 kHz, a byte a sample. */
const silence = () => {
  const head = Buffer.from(
    "52494646641f000057415645666d74201000000001000100401f0000401f00000100080064617461401f0000",
    "hex"
  )
  return Buffer.concat([head, Buffer.alloc(8_000, 128)])
}

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })(
  "requests that a model's server finds too long",
  (it) => {
    it.effect("fail with the name of the field to shorten, and cost nothing", () =>
      Effect.gen(function* () {
        const { client, principal } = yield* customer(NANO)
        for (const [param, ask] of [
          ["messages", () => client.chat.completions.create({ model: "sluice-small", messages: user("Hi") })],
          ["input", () => client.responses.create({ model: "sluice-small", input: "Hi" })],
          ["input", () => client.embeddings.create({ model: "sluice-embed-small", input: "Hi" })],
          ["prompt", () => client.images.generate({ model: "sluice-image", prompt: "Hi" })],
          ["input", () => client.audio.speech.create({ model: "sluice-voice", voice: "nova", input: "Hi" })],
          [
            "file",
            async () => {
              const file = await toFile(silence(), "a.wav")
              return client.audio.transcriptions.create({ model: "sluice-listen", file })
            }
          ]
        ] as ReadonlyArray<readonly [string, () => Promise<unknown>]>) {
          expect(yield* failure(ask)).toMatchObject({
            status: 400,
            code: "context_length_exceeded",
            param,
            message: expect.stringContaining("shorten the request")
          })
        }
        expect(yield* money(principal)).toMatchObject({ balance: NANO, held: 0n, usage: 0n })
      })
    )
  }
)
