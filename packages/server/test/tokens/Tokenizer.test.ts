/** Counting by cached words: it equals the tokenizer's count of the whole text, and so does a fit to a limit. */
import { expect, it } from "@effect/vitest"
import { SLICE_LENGTH } from "@sluice/domain/models/Tokens"
import { makeTokenizer, wordsOf } from "@sluice/server/tokens/Tokenizer"
import fc from "fast-check"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"

const whole = (text: string) => countTokens(text, { disallowedSpecial: new Set<string>() })

const piece = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    " ",
    "  ",
    "\n",
    "\r\n\r\n",
    "\t",
    "I'll",
    "DON'T",
    "1234567",
    "<|endoftext|>",
    "...",
    "\ud800",
    "a".repeat(200)
  ),
  fc.lorem({ maxCount: 20, mode: "sentences" })
)
const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("").slice(0, SLICE_LENGTH))

it("the tokenizer cache counts any text as the tokenizer does, the first time and again", () => {
  const { count } = makeTokenizer()
  fc.assert(
    fc.property(texts, (text) => {
      const expected = text === "" ? 0 : whole(text)
      expect(count(text)).toBe(expected)
      expect(count(text)).toBe(expected)
    }),
    { numRuns: 500 }
  )
})

it("the word splitter covers the whole text", () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(wordsOf(text).join("")).toBe(text)
    }),
    { numRuns: 500 }
  )
})

it("the tokenizer cache evicts words and stays bounded", () => {
  const { count } = makeTokenizer()
  const words = Array.from({ length: 60_000 }, (_, n) => ` ${n.toString(36).replace(/\d/g, "q")}x`)
  for (const word of words) count(word)
  for (const word of words.slice(0, 100)) expect(count(word)).toBe(whole(word))
})

it("a fitted text is within the token limit, and within one word of it", () => {
  const { count, fit } = makeTokenizer()
  const long = fc.array(texts, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""))
  fc.assert(
    fc.property(long, fc.integer({ min: 1, max: 400 }), (text, limit) => {
      const fits = fit(text, limit)
      expect(text.startsWith(fits)).toBe(true)
      expect(count(fits)).toBe(makeTokenizer().count(fits))
      expect(count(fits)).toBeLessThanOrEqual(limit)
      if (count(text) <= limit) expect(fits).toBe(text)
      if (text.isWellFormed()) expect(fits.isWellFormed()).toBe(true)
    }),
    { numRuns: 300 }
  )
})

it("a fitted text of plain words fills the limit", () => {
  const { count, fit } = makeTokenizer()
  const sentence = fc.lorem({ maxCount: 60, mode: "words" })
  fc.assert(
    fc.property(sentence, fc.integer({ min: 1, max: 60 }), (text, limit) => {
      if (count(text) > limit) expect(count(fit(text, limit))).toBe(limit)
    }),
    { numRuns: 300 }
  )
})

it("a fit of a long word does not go through it letter by letter", () => {
  const { count, fit } = makeTokenizer()
  const word = "ab".repeat(SLICE_LENGTH * 4)
  const fits = fit(word, 3_000)
  expect(count(fits)).toBeLessThanOrEqual(3_000)
  expect(count(fits)).toBeGreaterThan(2_900)
})
