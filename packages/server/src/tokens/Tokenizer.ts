/**
 * The tokenizer: o200k, by the slices of the domain's rule. Synchronous; also what the worker runs.
 * A user's `<|endoftext|>` is text like any other.
 *
 * A text's count is the sum of the counts of its words, as the encoding divides it. Most words of most texts were seen before,
 * so the counts of words are remembered: three to four times as fast as counting texts whole, and the same numbers. What the
 * encoding would remember itself grows by eight times the text, with each that is hostile: to gigabytes.
 */
import { countSliced, fitByHalves, fitSliced, type SliceTokens } from "@sluice/domain/models/Tokens"
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base"
import { O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants"

const PLAIN = { disallowedSpecial: new Set<string>() }
/** Words that are remembered at most, and how long they may be: some megabytes. */
const MAX_WORDS = 50_000
const MAX_LENGTH = 32

export interface Tokenizer {
  readonly count: (text: string) => number
  /** The longest beginning with at most `limit` tokens. */
  readonly fit: (text: string, limit: number) => string
  readonly slices: SliceTokens
}

export const makeTokenizer = (): Tokenizer => {
  setMergeCacheSize(0)
  const known = new Map<string, number>()
  const countWord = (word: string): number => {
    const before = known.get(word)
    if (before !== undefined) return before
    const count = countTokens(word, PLAIN)
    if (word.length > MAX_LENGTH) return count
    if (known.size >= MAX_WORDS) known.clear()
    // A word of its own: a part of a text would keep the whole text alive.
    known.set(Buffer.from(word).toString(), count)
    return count
  }
  // What a model says is counted where it is cut, and again at once where it is charged. It keeps one text alive.
  let last = ""
  let lastCount = 0
  const counted = (slice: string, count: number): number => {
    last = slice
    lastCount = count
    return count
  }
  const countSlice = (slice: string): number => {
    if (slice === last) return lastCount
    let count = 0
    for (const word of wordsOf(slice)) count += countWord(word)
    return counted(slice, count)
  }
  const fitSlice = (slice: string, limit: number): string => {
    let start = 0
    let left = limit
    for (const word of wordsOf(slice)) {
      const count = countWord(word)
      if (count > left) {
        const fits = slice.slice(0, start) + (left === 0 ? "" : fitByHalves(word, left, countWord))
        // What is cut may be divided into other words than the whole.
        return countSlice(fits) <= limit ? fits : fitByHalves(fits, limit, countSlice)
      }
      left -= count
      start += word.length
    }
    counted(slice, limit - left)
    return slice
  }
  const slices = { count: countSlice, fit: fitSlice }
  return {
    count: (text) => countSliced(text, countSlice),
    fit: (text, limit) => fitSliced(text, limit, slices),
    slices
  }
}

/** A text as the encoding divides it. Nothing is left out: its words, one after another, are the text. */
export const wordsOf = (text: string): ReadonlyArray<string> => text.match(O200K_TOKEN_SPLIT_REGEX) ?? []
