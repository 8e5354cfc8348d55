/**
 * How many tokens a text has: the count that is billed (decisions: Money).
 *
 * The billed count is defined on slices of 4,096 characters of the whole text, because tokenizers are quadratic on
 * hostile input. A streamed, a buffered and an abandoned answer with the same text therefore have the same count.
 */
import type { Effect } from "effect"
import { Context } from "effect"

/** Characters (UTF-16 units) that a tokenizer sees at once. */
export const SLICE_LENGTH = 4_096

/** Counts by slices with a tokenizer that counts one of them. A surrogate pair is never cut in two. */
export const countSliced = (text: string, countSlice: (slice: string) => number): number => {
  if (text.length <= SLICE_LENGTH) return text === "" ? 0 : countSlice(text)
  let tokens = 0
  for (let start = 0; start < text.length;) {
    const end = sliceEnd(text, start)
    tokens += countSlice(text.slice(start, end))
    start = end
  }
  return tokens
}

const sliceEnd = (text: string, start: number): number => {
  const end = start + SLICE_LENGTH
  if (end >= text.length) return text.length
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end
}

export class Tokens extends Context.Service<
  Tokens,
  {
    /** Never holds up the event loop: long texts are counted elsewhere. */
    readonly count: (text: string) => Effect.Effect<number>
  }
>()("@sluice/domain/inference/Tokens") {}
