/** The tokenizer: real counts, safe on hostile text, and never in the way of the event loop. */
import { expect, layer } from "@effect/vitest"
import { Tokens } from "@sluice/domain/inference/Tokens"
import { INLINE_LENGTH } from "@sluice/server/tokens/NodeTokens"
import * as NodeTokens from "@sluice/server/tokens/NodeTokens"
import { Effect, Fiber } from "effect"

layer(NodeTokens.layer, { excludeTestServices: true })("NodeTokens", (it) => {
  it.effect("counts as o200k does, special tokens as text", () =>
    Effect.gen(function* () {
      const { count } = yield* Tokens
      expect(yield* count("")).toBe(0)
      expect(yield* count("hello world")).toBe(2)
      expect(yield* count("<|endoftext|>")).toBeGreaterThan(1)
      expect(yield* count("\ud800 lone")).toBeGreaterThan(0)
    })
  )

  it.effect("counts hostile megabytes elsewhere: the event loop stays free", () =>
    Effect.gen(function* () {
      const { count } = yield* Tokens
      const fiber = yield* Effect.forkChild(
        Effect.all([count("a".repeat(1_000_000)), count(" ".repeat(1_000_000)), count("héé ".repeat(250_000))], {
          concurrency: 3
        })
      )
      // Counted here, all three would be done before the loop turned once.
      let turns = 0
      while (fiber.pollUnsafe() === undefined) {
        yield* Effect.sleep("1 millis")
        turns += 1
      }
      const counts = yield* Fiber.join(fiber)
      expect(counts[0]).toBeGreaterThan(100_000)
      expect(turns).toBeGreaterThan(20)
    })
  )

  it.effect("is the same number inline and in the worker", () =>
    Effect.gen(function* () {
      const { count } = yield* Tokens
      const half = "The river bends twice before it reaches the sluice. ".repeat(700).slice(0, INLINE_LENGTH)
      const inline = yield* count(half)
      expect(half.length % 4_096).toBe(0)
      expect(yield* count(half + half)).toBe(2 * inline)
    })
  )

  it.effect("fits long texts in the worker as short ones inline", () =>
    Effect.gen(function* () {
      const { count, fit } = yield* Tokens
      const text = "The river bends twice before it reaches the sluice. ".repeat(1_400)
      expect(text.length).toBeGreaterThan(2 * INLINE_LENGTH)
      const inline = yield* fit(text.slice(0, INLINE_LENGTH), 5_000)
      expect(yield* count(inline)).toBe(5_000)
      expect(yield* fit(text, 5_000)).toBe(inline)
      expect(yield* fit(text, 1_000_000)).toBe(text)
    })
  )

  it.effect("who gives up waiting disturbs nobody", () =>
    Effect.gen(function* () {
      const { count } = yield* Tokens
      const long = "word ".repeat(100_000)
      const gone = yield* Effect.forkChild(count(long))
      const stays = yield* Effect.forkChild(count(long))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(gone)
      expect(yield* Fiber.join(stays)).toBeGreaterThan(90_000)
    })
  )
})
