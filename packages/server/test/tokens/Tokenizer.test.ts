/** Counting by remembered words gives what the tokenizer says of the whole. */
import { expect, it } from "@effect/vitest"
import { SLICE_LENGTH } from "@sluice/domain/inference/Tokens"
import { makeCounter } from "@sluice/server/tokens/Tokenizer"
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

it("counts any text as the tokenizer does, the first time and again", () => {
  const count = makeCounter()
  fc.assert(
    fc.property(texts, (text) => {
      const expected = text === "" ? 0 : whole(text)
      expect(count(text)).toBe(expected)
      expect(count(text)).toBe(expected)
    }),
    { numRuns: 500 }
  )
})

it("forgets rather than grows", () => {
  const count = makeCounter()
  const words = Array.from({ length: 60_000 }, (_, n) => ` ${n.toString(36).replace(/\d/g, "q")}x`)
  for (const word of words) count(word)
  for (const word of words.slice(0, 100)) expect(count(word)).toBe(whole(word))
})
