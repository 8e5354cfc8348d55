/** Costs of embeddings: the provider's count within our own count, or ours without one; and refusals of long texts. */
import { NodeCrypto } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { decodeEmbedding } from "@sluice/domain/inference/embeddings/EmbeddingRequest"
import { Embeddings } from "@sluice/domain/inference/embeddings/Embeddings"
import { Metering } from "@sluice/domain/metering/Metering"
import { type Settlement } from "@sluice/domain/metering/Settlement"
import { type EmbeddingModel, ModelProvider } from "@sluice/domain/models/ModelProvider"
import { Tokens } from "@sluice/domain/models/Tokens"
import { Effect, Layer, Result } from "effect"
import { idOf, replica } from "@sluice/testing/fixtures/Workspace"

const model: EmbeddingModel = {
  id: "m",
  created: 0,
  ownedBy: "t",
  dimensions: 2,
  contextLength: 100,
  promptPrice: 1_000_000n
}

/** A token is a character, and costs a nano-dollar. `provided`: the provider's count. */
const embed = (input: unknown, provided: number | undefined, of = model, dimensions: number | null = null) =>
  Effect.gen(function* () {
    const reserved: Array<bigint> = []
    const settled: Array<Settlement> = []
    const services = Layer.mergeAll(
      Layer.succeed(Metering, {
        reserve: (charge, amount) =>
          Effect.sync(() => {
            reserved.push(amount)
            return charge
          }),
        settle: (settlement) => Effect.sync(() => void settled.push(settlement))
      }),
      Layer.succeed(ModelProvider, {
        models: [],
        chat: () => Effect.void,
        embeddings: {
          models: [of],
          embed: (_, inputs) =>
            Effect.succeed({
              vectors: inputs.map(() => Float32Array.of(1, 0)),
              ...(provided === undefined ? {} : { tokens: provided })
            })
        }
      }),
      Layer.succeed(
        Tokens,
        Tokens.by((text) => text.length)
      ),
      NodeCrypto.layer,
      replica
    )
    const request = Result.getOrThrow(decodeEmbedding({ model: "m", input, dimensions }))
    const { cost, tokens } = yield* Effect.flatMap(Embeddings, (one) =>
      one.embed(idOf.principal(1), "r", request)
    ).pipe(Effect.provide(Embeddings.layerNoDeps.pipe(Layer.provide(services))))
    expect(settled.map((one) => [one.cost, one.tokens])).toEqual([[cost, { prompt: tokens, completion: 0 }]])
    return { reserved, tokens, cost }
  })

it.effect("a text that is too long is refused with its position", () =>
  Effect.gen(function* () {
    const ids = Array.from({ length: 101 }, (_, at) => at)
    const long = "x".repeat(101)
    for (const [input, param, said] of [
      [long, "input", "tokens, however the text has more"],
      [ids, "input", "tokens, however the text has more"],
      [[long], "input.0", "tokens, however text 0 has more"],
      [["a", long], "input.1", "tokens, however text 1 has more"],
      [[[1], ids], "input.1", "tokens, however text 1 has more"]
    ] as const) {
      expect(yield* Effect.flip(embed(input, undefined))).toMatchObject({
        param,
        code: "context_length_exceeded",
        message: expect.stringContaining(said)
      })
    }
  })
)

it.effect("the provider's count is billed, zero too, and never more than ours", () =>
  Effect.gen(function* () {
    for (const [provided, tokens] of [
      [3, 3],
      [0, 0],
      [5, 5],
      [9, 5],
      [undefined, 5]
    ] as const) {
      expect(yield* embed(["abc", "de"], provided)).toEqual({ reserved: [5n], tokens, cost: BigInt(tokens) })
    }
  })
)

it.effect("a text may fill the context, all texts the request, and a vector the model's dimensions", () =>
  Effect.gen(function* () {
    const full = "x".repeat(100)
    expect((yield* embed([full, full], undefined, model, 2)).tokens).toBe(200)
    expect(yield* Effect.flip(embed("x", undefined, model, 3))).toMatchObject({ param: "dimensions" })
    const large = { ...model, contextLength: 200_000 }
    const [most, half] = [300_000, "x".repeat(150_000)]
    expect((yield* embed([half, half], undefined, large)).tokens).toBe(most)
    expect(yield* Effect.flip(embed([half, half, "x"], undefined, large))).toMatchObject({
      param: "input.2",
      code: "context_length_exceeded",
      message: expect.stringContaining(`${most} tokens in one request, and the texts`)
    })
  })
)
