/**
 * Counts tokens without holding up the event loop: short texts at once, long ones in a thread of their own (TokenThread.ts),
 * where callers take turns and of which each may have so much waiting.
 *
 * The vocabulary takes a tenth of a second to load, so that is done at the first count, or while something else is waited
 * for: whoever builds `loaded` along with what takes long has it for nothing.
 */
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { LONGEST_TOKEN, sumOf, Tokens } from "@sluice/domain/models/Tokens"
import { Effect, Layer } from "effect"
import { Backlog } from "./Backlog.ts"
import type { Tokenizer } from "./Tokenizer.ts"
import { TokenThread } from "./TokenThread.ts"

/**
 * Bytes of UTF-8 that are counted on the event loop, all texts of a request together: 2 ms where each word is new and as
 * long as all of it (ideographs, letters at random), a hundredth of that where they are ordinary.
 */
export const INLINE_BYTES = 1_536

/** A word that is cut is counted ten times over. */
const INLINE_FIT_BYTES = 384

/** Bytes that wait to be counted, of one caller and of all: 20 s of the most hostile text, less than one of ordinary. */
const WAITING_OF_CALLER = 8 * 1024 * 1024
const WAITING_OF_ALL = 64 * 1024 * 1024

/** Whose turn it is that models take: they say less than they may be asked. */
const MODELS = "models"

export const layer: Layer.Layer<Tokens> = Layer.effect(
  Tokens,
  Effect.gen(function* () {
    const thread = yield* Effect.acquireRelease(
      Effect.sync(() => new TokenThread()),
      (thread) => Effect.promise(() => thread.end())
    )
    const backlog = new Backlog(WAITING_OF_CALLER, WAITING_OF_ALL)
    let tokenizer: Tokenizer | undefined
    const first = Effect.map(load, (makeTokenizer) => (tokenizer ??= makeTokenizer()))

    const whereRoom = <A>(caller: string, bytes: number, counted: Effect.Effect<A>) =>
      Effect.acquireUseRelease(
        Effect.suspend(() =>
          backlog.enter(caller, bytes) ? Effect.void : Effect.fail(new UpstreamFailed({ reason: "overloaded" }))
        ),
        () => counted,
        () => Effect.sync(() => backlog.leave(caller, bytes))
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
        return whereRoom(caller, bytes, counted)
      },
      countEach: (caller, texts, limit, limitOfAll) => {
        const bytes = bytesOf(texts)
        if (bytes > INLINE_BYTES) return whereRoom(caller, bytes, thread.count(caller, texts, limit, limitOfAll))
        return tokenizer === undefined
          ? Effect.map(first, ({ count }) => texts.map(count))
          : Effect.succeed(texts.map(tokenizer.count))
      },
      countSaid: (caller, choices, allowed) => {
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
