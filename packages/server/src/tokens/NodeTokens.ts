/**
 * Counts tokens without blocking the event loop: short texts inline, long texts in a thread (TokenThread.ts), where
 * callers share the time fairly and the queued bytes of each are bounded.
 *
 * Loading the vocabulary takes 0.1 s and happens at the first count. Build `loaded` beside other slow layers to load it
 * while they build.
 */
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { LONGEST_TOKEN, sumOf, Tokens } from "@sluice/domain/models/Tokens"
import { Effect, Layer } from "effect"
import { Backlog } from "./Backlog.ts"
import type { Tokenizer } from "./Tokenizer.ts"
import { TokenThread } from "./TokenThread.ts"

/**
 * Bytes of UTF-8 that are counted on the event loop, all texts of a request together. They take 2 ms where each word is
 * new and as long as the text (ideographs, random letters), and a hundredth of that for ordinary text.
 */
export const INLINE_BYTES = 1_536

/** Lower than INLINE_BYTES, because finding where to cut a word counts it about ten times. */
const INLINE_FIT_BYTES = 384

/**
 * Bytes of queued texts, per caller and in total. 8 MiB are 20 s of the most hostile text, and less than 1 s of
 * ordinary text.
 */
const MAX_WAITING_PER_CALLER = 8 * 1024 * 1024
const MAX_WAITING_TOTAL = 64 * 1024 * 1024

/** The caller of `fit`, which cuts the models' answers. */
const MODELS = "models"

export const layer: Layer.Layer<Tokens> = Layer.effect(
  Tokens,
  Effect.gen(function* () {
    const thread = yield* Effect.acquireRelease(
      Effect.sync(() => new TokenThread()),
      (thread) => Effect.promise(() => thread.end())
    )
    const backlog = new Backlog(MAX_WAITING_PER_CALLER, MAX_WAITING_TOTAL)
    let tokenizer: Tokenizer | undefined
    const first = Effect.map(load, (makeTokenizer) => (tokenizer ??= makeTokenizer()))

    const withBacklog = <A>(caller: string, bytes: number, counted: Effect.Effect<A>) =>
      Effect.acquireUseRelease(
        Effect.suspend(() =>
          backlog.reserve(caller, bytes) ? Effect.void : Effect.fail(new UpstreamFailed({ reason: "overloaded" }))
        ),
        () => counted,
        () => Effect.sync(() => backlog.release(caller, bytes))
      )

    return {
      count: (caller, text, limit) => {
        const bytes = Buffer.byteLength(text)
        if (bytes <= INLINE_BYTES) {
          return tokenizer === undefined
            ? Effect.map(first, ({ count }) => count(text))
            : Effect.succeed(tokenizer.count(text))
        }
        if (bytes > limit * LONGEST_TOKEN) return Effect.succeed(limit + 1)
        const counted = Effect.map(thread.count(caller, [text], limit), (counts) => counts[0]!)
        return withBacklog(caller, bytes, counted)
      },
      countEach: (caller, texts, limit, limitOfAll) => {
        const bytes = bytesOf(texts)
        if (bytes > INLINE_BYTES) return withBacklog(caller, bytes, thread.count(caller, texts, limit, limitOfAll))
        return tokenizer === undefined
          ? Effect.map(first, ({ count }) => texts.map(count))
          : Effect.succeed(texts.map(tokenizer.count))
      },
      countOutput: (caller, choices, allowed) => {
        if (bytesOf(choices) <= INLINE_BYTES) {
          return tokenizer === undefined
            ? Effect.map(first, ({ count }) => sumOf(choices, count, allowed))
            : Effect.succeed(sumOf(choices, tokenizer.count, allowed))
        }
        return Effect.map(thread.count(caller, choices, allowed), (counts) =>
          counts.reduce((sum, tokens) => sum + Math.min(tokens, allowed), 0)
        )
      },
      fit: (text, limit) => {
        if (Buffer.byteLength(text) > INLINE_FIT_BYTES) return thread.fit(MODELS, text, limit)
        return tokenizer === undefined
          ? Effect.map(first, ({ fit }) => fit(text, limit))
          : Effect.succeed(tokenizer.fit(text, limit))
      }
    }
  })
)

const load = Effect.promise(async () => (await import("./Tokenizer.ts")).makeTokenizer)

export const loaded = Layer.effectDiscard(load)

const bytesOf = (texts: ReadonlyArray<string>): number => {
  let bytes = 0
  for (const text of texts) bytes += Buffer.byteLength(text)
  return bytes
}
