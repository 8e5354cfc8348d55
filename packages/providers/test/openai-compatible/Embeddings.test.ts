/** Embeddings of real servers, in every form in which they come. */
import { describe, expect, it } from "@effect/vitest"
import { vectorsOf } from "@sluice/providers/openai-compatible/calls/EmbeddingCall"
import { Effect, Fiber } from "effect"
import fc from "fast-check"
import { over, reasonOf } from "@sluice/testing/upstreams/Kinds"
import { says } from "@sluice/testing/upstreams/RecordedServer"

describe("embeddings", () => {
  const base64 = (numbers: ReadonlyArray<number>) => Buffer.from(new Float32Array(numbers).buffer).toString("base64")

  it.live("are asked for as stock clients ask, and have length one whatever comes", () =>
    Effect.gen(function* () {
      const data = [
        { index: 1, embedding: base64([0, 3, 4, 0]) },
        { index: 0, embedding: [2, 0, 0, 0] }
      ]
      const { models, server } = yield* over((_, response) => says(response, 200, { data }))
      const [model, embed] = [models.embeddings!.models[0]!, models.embeddings!.embed]
      const all = yield* embed(model, ["a", [5, 6]], 4)
      expect(all.vectors.map((one) => [...one])).toEqual([
        [1, 0, 0, 0],
        [0, expect.closeTo(0.6), expect.closeTo(0.8), 0]
      ])
      expect(server.seen[0]!.json).toEqual({ model: "up", input: ["a", [5, 6]], encoding_format: "base64" })
      // Fewer are the first ones, also of a server that does not know the field.
      expect((yield* embed(model, ["a", "b"], 2)).vectors.map((one) => [...one])).toEqual([
        [1, 0],
        [0, 1]
      ])
      expect(server.seen[1]!.json).toMatchObject({ dimensions: 2 })
      for (const wrong of [data.slice(1), [data[0], data[0]]]) {
        server.script = (_, response) => says(response, 200, { data: wrong })
        expect(yield* reasonOf(embed(model, ["a", "b"], 4))).toBe("broken")
      }
    }).pipe(Effect.scoped)
  )

  it.live("come with the count of the server: null, absent and zero are none", () =>
    Effect.gen(function* () {
      const { models, server } = yield* over((_, response) => says(response, 200, {}))
      const { embed, models: all } = models.embeddings!
      for (const [usage, tokens] of [
        [{ prompt_tokens: 3, total_tokens: 3 }, 3],
        [{ prompt_tokens: 0, total_tokens: 0 }, undefined],
        [{ prompt_tokens: 0, total_tokens: 9 }, undefined],
        [{ prompt_tokens: 0.5 }, undefined],
        [{ total_tokens: 4 }, 4],
        [{ prompt_tokens: 2.7 }, 2],
        [{ prompt_tokens: -1 }, undefined],
        [{ prompt_tokens: "3" }, undefined],
        [{}, undefined],
        [null, undefined],
        [undefined, undefined]
      ] as const) {
        server.script = (_, response) => says(response, 200, { data: [{ embedding: [1, 0, 0, 0] }], usage })
        expect([usage, (yield* embed(all[0]!, ["a"], 4)).tokens]).toEqual([usage, tokens])
      }
    }).pipe(Effect.scoped)
  )

  it.live("give others their turn where there are many", () =>
    Effect.gen(function* () {
      const data = Array.from({ length: 2_048 }, () => ({ embedding: [1, 0] }))
      let turns = 0
      const others = yield* Effect.forkChild(
        Effect.forever(
          Effect.andThen(
            Effect.sync(() => turns++),
            Effect.yieldNow
          )
        )
      )
      yield* Effect.yieldNow
      expect(yield* vectorsOf({ data }, data.length, 2)).toHaveLength(data.length)
      yield* Fiber.interrupt(others)
      expect(turns).toBeGreaterThan(30)
    })
  )

  it("are all there, each once, and vectors, or nothing is", () => {
    const number = fc.oneof(fc.double(), fc.constant("x"), fc.constant(null))
    const one = fc.record({
      index: fc.oneof(fc.integer({ min: -1, max: 3 }), fc.constant(null)),
      embedding: fc.oneof(fc.array(number, { maxLength: 4 }), fc.base64String(), fc.constant(undefined))
    })
    fc.assert(
      fc.property(
        fc.array(one, { maxLength: 4 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 3 }),
        (data, count, dimensions) => {
          const vectors = Effect.runSync(vectorsOf({ data }, count, dimensions))
          if (vectors === undefined) return
          expect(vectors.length).toBe(count)
          for (const vector of vectors) {
            expect(vector.length).toBe(dimensions)
            expect(Math.hypot(...vector)).toBeCloseTo(1, 3)
          }
        }
      ),
      { numRuns: 2_000 }
    )
  })
})
