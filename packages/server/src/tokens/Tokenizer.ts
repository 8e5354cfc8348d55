/**
 * The o200k tokenizer, by the slices of the domain's rule. Synchronous; the worker thread runs it too. A user's
 * `<|endoftext|>` counts as ordinary text.
 *
 * A text's count is the sum of the counts of its words, as the encoding divides it. Most words repeat, so their counts
 * are cached: that is three to four times as fast as counting whole texts, with the same result. The encoding's own
 * cache is disabled: hostile text makes it grow by eight times the text, up to gigabytes.
 */
import { countSliced, fitByHalves, fitSliced, type SliceTokens } from "@sluice/domain/models/Tokens"
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base"
import { O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants"

const PLAIN = { disallowedSpecial: new Set<string>() }
/** Words in the cache, and the length of a cached word in characters: some megabytes in total. */
const MAX_WORDS = 50_000
const MAX_LENGTH = 32

export interface Tokenizer {
  readonly count: (text: string) => number
  /** Returns the longest prefix with at most `limit` tokens. */
  readonly fit: (text: string, limit: number) => string
  readonly slices: SliceTokens
}

export const makeTokenizer = (): Tokenizer => {
  setMergeCacheSize(0)
  const cache = new Map<string, number>()
  const countWord = (word: string): number => {
    const cached = cache.get(word)
    if (cached !== undefined) return cached
    const count = countTokens(word, PLAIN)
    if (word.length > MAX_LENGTH) return count
    if (cache.size >= MAX_WORDS) cache.clear()
    // Copied, because a substring would keep the whole text alive.
    cache.set(Buffer.from(word).toString(), count)
    return count
  }
  // The last slice and its count: a model's answer is counted where it is cut, and again when it is charged. The cache
  // keeps one text alive.
  let last = ""
  let lastCount = 0
  const remember = (slice: string, count: number): number => {
    last = slice
    lastCount = count
    return count
  }
  const countSlice = (slice: string): number => {
    if (slice === last) return lastCount
    let count = 0
    for (const word of wordsOf(slice)) count += countWord(word)
    return remember(slice, count)
  }
  const fitSlice = (slice: string, limit: number): string => {
    let start = 0
    let left = limit
    for (const word of wordsOf(slice)) {
      const count = countWord(word)
      if (count > left) {
        const fits = slice.slice(0, start) + (left === 0 ? "" : fitByHalves(word, left, countWord))
        // The cut text may be divided into other words than the whole text.
        return countSlice(fits) <= limit ? fits : fitByHalves(fits, limit, countSlice)
      }
      left -= count
      start += word.length
    }
    remember(slice, limit - left)
    return slice
  }
  const slices = { count: countSlice, fit: fitSlice }
  return {
    count: (text) => countSliced(text, countSlice),
    fit: (text, limit) => fitSliced(text, limit, slices),
    slices
  }
}

/** Returns the words into which the encoding divides a text. Joined, they are the text. */
export const wordsOf = (text: string): ReadonlyArray<string> => text.match(O200K_TOKEN_SPLIT_REGEX) ?? []
