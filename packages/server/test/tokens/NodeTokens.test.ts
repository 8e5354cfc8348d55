/** The tokenizer: real counts, safe on hostile text, never blocking the event loop or another caller. */
import { expect, layer } from "@effect/vitest"
import { LONGEST_TOKEN, SLICE_LENGTH, Tokens } from "@sluice/domain/models/Tokens"
import { INLINE_BYTES } from "@sluice/server/tokens/NodeTokens"
import * as NodeTokens from "@sluice/server/tokens/NodeTokens"
import { makeTokenizer } from "@sluice/server/tokens/Tokenizer"
import { exitIfSettled } from "@sluice/domain/runtime/SyncFastPath"
import { Effect, Fiber } from "effect"
import bytePairs from "gpt-tokenizer/bpeRanks/o200k_base"

const unlimited = Number.POSITIVE_INFINITY
const river = "The river bends twice before it reaches the sluice. "
/** Seconds of work: pseudorandom ideographs. */
const huge = Array.from({ length: 2_000_000 }, (_, n) => String.fromCharCode(0x4e00 + ((n * n * 31) % 19_997))).join("")

layer(NodeTokens.layer, { excludeTestServices: true })("NodeTokens", (it) => {
  it.effect("counts as o200k does, special tokens as text", () =>
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const count = (text: string) => tokens.count("a", text, unlimited)
      expect(yield* count("")).toBe(0)
      expect(yield* count("hello world")).toBe(2)
      expect(yield* count("<|endoftext|>")).toBeGreaterThan(1)
      expect(yield* count("\ud800 lone")).toBeGreaterThan(0)
    })
  )

  it.effect("decides by bytes to count on the event loop, over all texts of a request", () =>
    Effect.gen(function* () {
      const { count, countEach, countOutput } = yield* Tokens
      yield* count("a", "loads the vocabulary", unlimited)
      const isInline = <A, E>(asked: Effect.Effect<A, E>) => exitIfSettled(asked) !== undefined
      const most = "a".repeat(INLINE_BYTES)
      expect(isInline(count("a", most, unlimited))).toBe(true)
      expect(isInline(count("a", `${most}a`, unlimited))).toBe(false)
      expect(isInline(count("a", "\u6c34".repeat(INLINE_BYTES / 3 + 1), unlimited))).toBe(false)
      const many = Array.from({ length: 10 }, () => "a".repeat(INLINE_BYTES / 8))
      expect(isInline(countEach("a", many.slice(0, 8), unlimited, unlimited))).toBe(true)
      expect(isInline(countEach("a", many, unlimited, unlimited))).toBe(false)
      expect(isInline(countOutput("a", many.slice(0, 8), 100))).toBe(true)
      expect(isInline(countOutput("a", many, 100))).toBe(false)
    })
  )

  it.effect("gives the same number on the event loop and in the thread", () =>
    Effect.gen(function* () {
      const { count, countEach, countOutput, fit } = yield* Tokens
      const here = makeTokenizer()
      const long = river.repeat(1_400)
      const exact = here.count(long)
      for (const limit of [exact, unlimited]) expect(yield* count("a", long, limit)).toBe(exact)
      expect(yield* countEach("a", [long, "hello world", long], unlimited, unlimited)).toEqual([exact, 2, exact])
      expect(yield* countOutput("a", [long, "hello world"], unlimited)).toBe(exact + 2)
      expect(yield* countOutput("a", [long, "hello world", long], 100)).toBe(202)
      expect(yield* fit(long, 5_000)).toBe(here.fit(long, 5_000))
      expect(yield* fit(long, 1_000_000)).toBe(long)
    })
  )

  it.effect("refuses text beyond the limit without counting it", () =>
    Effect.gen(function* () {
      const { count } = yield* Tokens
      const longest = bytePairs.reduce<number>(
        (most, token) => Math.max(most, Buffer.byteLength(Buffer.from(token as string))),
        0
      )
      expect(longest).toBe(LONGEST_TOKEN)
      const beyond = exitIfSettled(count("a", " ".repeat(100 * LONGEST_TOKEN + 1), 100))
      expect(beyond).toMatchObject({ value: 101 })
    })
  )

  it.effect("stops at the limit, also for text whose size decides nothing", () =>
    Effect.gen(function* () {
      const { count } = yield* Tokens
      const counted = yield* count("a", huge, 20_000)
      expect(counted).toBeGreaterThan(20_000)
      expect(counted).toBeLessThanOrEqual(20_000 + 3 * SLICE_LENGTH)
    })
  )

  it.effect("answers one caller while another's text is counted, and refuses that one a further count", () =>
    Effect.gen(function* () {
      const { count, countOutput } = yield* Tokens
      const bob = yield* Effect.forkChild(
        Effect.all([count("bob", huge, unlimited), countOutput("bob", [huge], unlimited)], { concurrency: 2 })
      )
      yield* Effect.yieldNow
      expect(yield* count("alice", river.repeat(800), unlimited)).toBeGreaterThan(8_000)
      expect(yield* Effect.flip(count("bob", huge, unlimited))).toMatchObject({ reason: "overloaded" })
      expect(yield* countOutput("bob", [river.repeat(800)], unlimited)).toBeGreaterThan(8_000)
      expect(bob.pollUnsafe()).toBeUndefined()
      yield* Fiber.interrupt(bob)
      // The place is free again.
      const again = yield* Effect.forkChild(count("bob", huge, unlimited))
      expect(yield* count("bob", river.repeat(100), unlimited)).toBeGreaterThan(1_000)
      expect(again.pollUnsafe()).toBeUndefined()
      yield* Fiber.interrupt(again)
    })
  )
})
