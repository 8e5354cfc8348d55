/**
 * How many tokens a text has: the count that is billed (decisions: Money).
 *
 * The billed count is defined on slices of 4,096 characters of the whole text, because tokenizers are quadratic on
 * hostile input. A streamed, a buffered and an abandoned answer with the same text therefore have the same count.
 */
import { Context, Effect } from "effect"
import type { UpstreamFailed } from "./UpstreamFailed.ts"

/** Characters (UTF-16 units) that a tokenizer sees at once. */
export const SLICE_LENGTH = 4_096

/** Bytes of the longest token that tokenizers know. */
export const LONGEST_TOKEN = 128

/** What a tokenizer does with one slice. */
export interface SliceTokens {
  readonly count: (slice: string) => number
  /** The longest beginning with at most `limit` tokens. */
  readonly fit: (slice: string, limit: number) => string
}

/** The slices of a text, in order. A surrogate pair is never cut in two. */
export function* slicesOf(text: string): Generator<string, void> {
  for (let start = 0; start < text.length;) {
    const end = sliceEnd(text, start)
    yield text.slice(start, end)
    start = end
  }
}

/** Counts by slices. */
export const countSliced = (text: string, countSlice: SliceTokens["count"]): number => {
  if (text.length <= SLICE_LENGTH) return text === "" ? 0 : countSlice(text)
  let tokens = 0
  for (const slice of slicesOf(text)) tokens += countSlice(slice)
  return tokens
}

/** The longest beginning with at most `limit` tokens, as `countSliced` counts them. */
export const fitSliced = (text: string, limit: number, slices: SliceTokens): string => {
  let start = 0
  let left = limit
  for (const slice of slicesOf(text)) {
    const fits = slices.fit(slice, left)
    if (fits.length < slice.length) return text.slice(0, start + fits.length)
    start += slice.length
    if (start < text.length) left -= slices.count(slice)
  }
  return text
}

/** The longest beginning with at most `limit` tokens, found by halves: of texts whose beginnings have fewer. */
export const fitByHalves = (text: string, limit: number, count: (text: string) => number): string => {
  let fits = 0
  let tooLong = text.length + 1
  while (tooLong - fits > 1) {
    const at = (fits + tooLong) >> 1
    if (count(text.slice(0, pairEnd(text, at))) <= limit) fits = at
    else tooLong = at
  }
  return text.slice(0, pairEnd(text, fits))
}

const sliceEnd = (text: string, start: number): number => {
  const end = start + SLICE_LENGTH
  if (end >= text.length) return text.length
  return isHigh(text, end - 1) ? end + 1 : end
}

/** The end of a beginning of `length` characters that keeps no half of a pair. */
const pairEnd = (text: string, length: number): number =>
  length < text.length && isHigh(text, length - 1) ? length - 1 : length

const isHigh = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdbff
}

/**
 * Never holds up the event loop: long texts are counted elsewhere, the callers (their workspaces) in turns. A count stops
 * where its limit is passed: it is then any number above the limit.
 */
export class Tokens extends Context.Service<
  Tokens,
  {
    /** Of a prompt. Fails where too much waits to be counted. */
    readonly count: (caller: string, text: string, limit: number) => Effect.Effect<number, UpstreamFailed>
    /** Of each of the texts of a request, as far as the first that passes `limit`, or with which all pass `limitOfAll`. */
    readonly countEach: (
      caller: string,
      texts: ReadonlyArray<string>,
      limit: number,
      limitOfAll: number
    ) => Effect.Effect<ReadonlyArray<number>, UpstreamFailed>
    /**
     * Of what a model said, to be charged: never refused. A choice is never billed above what it was allowed: a text cut
     * within a word can count a token more than it was.
     */
    readonly countSaid: (caller: string, choices: ReadonlyArray<string>, allowed: number) => Effect.Effect<number>
    /** The longest beginning with at most `limit` tokens; for models that say whole texts. */
    readonly fit: (text: string, limit: number) => Effect.Effect<string>
  }
>()("@sluice/domain/models/Tokens") {
  /** By a plain count of whole texts, at once. */
  static readonly by = (
    count: (text: string) => number,
    fit = (text: string, limit: number) => fitByHalves(text, limit, count)
  ) =>
    Tokens.of({
      count: (_caller, text) => Effect.succeed(count(text)),
      countEach: (_caller, texts) => Effect.succeed(texts.map(count)),
      countSaid: (_caller, choices, allowed) => Effect.succeed(sumOf(choices, count, allowed)),
      fit: (text, limit) => Effect.succeed(fit(text, limit))
    })
}

/** What is billed of all choices. */
export const sumOf = (choices: ReadonlyArray<string>, count: (text: string) => number, allowed: number): number => {
  let tokens = 0
  for (const text of choices) tokens += Math.min(count(text), allowed)
  return tokens
}
