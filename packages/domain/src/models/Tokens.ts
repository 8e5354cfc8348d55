/**
 * Counts the tokens of a text for billing (decisions: Money).
 *
 * The count is defined on slices of 4,096 characters of the whole text, because tokenizers are quadratic on hostile
 * input. A streamed, a buffered and an abandoned answer with the same text therefore have the same count.
 */
import { Context, Effect } from "effect"
import type { UpstreamFailed } from "./UpstreamFailed.ts"

/**
 * Characters (UTF-16 units) of one slice. A longer slice costs more on hostile input, a shorter one cuts more tokens in
 * two.
 */
export const SLICE_LENGTH = 4_096

/** Bytes of the longest token that tokenizers know. */
export const LONGEST_TOKEN = 128

/** The two functions of a tokenizer on one slice. */
export interface SliceTokens {
  readonly count: (slice: string) => number
  /** Returns the longest prefix with at most `limit` tokens. */
  readonly fit: (slice: string, limit: number) => string
}

/** The slices of a text, in order. A surrogate pair is never cut. */
export function* slicesOf(text: string): Generator<string, void> {
  for (let start = 0; start < text.length;) {
    const end = sliceEnd(text, start)
    yield text.slice(start, end)
    start = end
  }
}

/** Returns the sum of the tokens of all slices. */
export const countSliced = (text: string, countSlice: SliceTokens["count"]): number => {
  if (text.length <= SLICE_LENGTH) return text === "" ? 0 : countSlice(text)
  let tokens = 0
  for (const slice of slicesOf(text)) tokens += countSlice(slice)
  return tokens
}

/** Returns the longest prefix with at most `limit` tokens, as `countSliced` counts them. */
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

/**
 * Returns the longest prefix with at most `limit` tokens, by bisection. Only for counts that do not fall as the text
 * grows.
 */
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

/** The length of a prefix that does not end within a surrogate pair: `length`, or one less. */
const pairEnd = (text: string, length: number): number =>
  length < text.length && isHigh(text, length - 1) ? length - 1 : length

const isHigh = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdbff
}

/**
 * The port to the tokenizer. Counting never blocks the event loop: long texts are counted in another thread, where
 * workspaces take turns. A count stops when it exceeds its limit, and is then any number above the limit.
 */
export class Tokens extends Context.Service<
  Tokens,
  {
    /** Counts a prompt. Fails if too many texts are queued. */
    readonly count: (caller: string, text: string, limit: number) => Effect.Effect<number, UpstreamFailed>
    /** Counts the texts of a request in order, until one exceeds `limit` or the sum exceeds `limitOfAll`. */
    readonly countEach: (
      caller: string,
      texts: ReadonlyArray<string>,
      limit: number,
      limitOfAll: number
    ) => Effect.Effect<ReadonlyArray<number>, UpstreamFailed>
    /**
     * Counts the output of a model for billing; never refused. A choice counts at most `allowed`, because a text that
     * was cut within a word can count one token more than the model produced.
     */
    readonly countOutput: (caller: string, choices: ReadonlyArray<string>, allowed: number) => Effect.Effect<number>
    /** Returns the longest prefix with at most `limit` tokens, for models that return whole texts. */
    readonly fit: (text: string, limit: number) => Effect.Effect<string>
  }
>()("@sluice/domain/models/Tokens") {
  /** Makes a tokenizer that counts whole texts synchronously. */
  static readonly by = (
    count: (text: string) => number,
    fit = (text: string, limit: number) => fitByHalves(text, limit, count)
  ) =>
    Tokens.of({
      count: (_caller, text) => Effect.succeed(count(text)),
      countEach: (_caller, texts) => Effect.succeed(texts.map(count)),
      countOutput: (_caller, choices, allowed) => Effect.succeed(sumOf(choices, count, allowed)),
      fit: (text, limit) => Effect.succeed(fit(text, limit))
    })
}

/** Returns the billed tokens of all choices. */
export const sumOf = (choices: ReadonlyArray<string>, count: (text: string) => number, allowed: number): number => {
  let tokens = 0
  for (const text of choices) tokens += Math.min(count(text), allowed)
  return tokens
}
