/** The Aho-Corasick automaton: it finds the words that a naive search finds, in two steps a byte at most. */
import { assert, describe, it } from "@effect/vitest"
import * as AhoCorasick from "@sluice/domain/machines/AhoCorasick"
import fc from "fast-check"

const endsWith = (text: Uint8Array, word: Uint8Array): boolean =>
  word.length <= text.length && word.every((value, i) => text[text.length - word.length + i] === value)

const longest = (words: ReadonlyArray<Uint8Array>): number => Math.max(0, ...words.map((word) => word.length))

const beginnings = (words: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> =>
  words.flatMap((word) => Array.from(word, (_, i) => word.subarray(0, i + 1)))

describe("AhoCorasick", () => {
  it("finds at each byte the longest complete word, the longest prefix, and whether a longer match may follow", () => {
    const alphabet = fc.constantFrom([0, 1], [7, 8, 255], [...Array(256).keys()])
    const property = alphabet.chain((values) => {
      const some = (lengths: fc.ArrayConstraints) =>
        fc.array(fc.constantFrom(...values), lengths).map((found) => Uint8Array.from(found))
      return fc.tuple(
        fc.array(some({ minLength: 1, maxLength: 9 }), { maxLength: 12 }),
        fc.array(fc.oneof(some({ minLength: 1, maxLength: 3 }), fc.nat(11)), { maxLength: 20 })
      )
    })
    fc.assert(
      fc.property(property, ([words, pieces]) => {
        // Numbers stand for words, so that words occur in large alphabets too.
        const text = Uint8Array.from(
          pieces.flatMap((piece) => [...(typeof piece === "number" ? (words[piece] ?? []) : piece)])
        )
        const automaton = AhoCorasick.make(words)
        let node = AhoCorasick.ROOT
        for (const [at, value] of text.entries()) {
          const read = text.subarray(0, at + 1)
          node = AhoCorasick.next(automaton, node, value)
          assert.strictEqual(automaton.longest[node], longest(words.filter((word) => endsWith(read, word))))
          const depth = longest(beginnings(words).filter((beginning) => endsWith(read, beginning)))
          assert.strictEqual(automaton.depth[node], depth)
          const end = read.subarray(read.length - depth)
          const goesOn = words.some((word) => word.length > depth && endsWith(word.subarray(0, depth), end))
          assert.strictEqual(AhoCorasick.hasChildren(automaton, node), goesOn)
        }
      }),
      { numRuns: 2_000 }
    )
  })

  it("follows at most one failure link a byte on average, for any near match", () => {
    const zeros = (length: number) => new Uint8Array(length)
    const nearly = [Uint8Array.of(...zeros(4_000), 1), Uint8Array.of(...zeros(3_900), 2, 2), zeros(3_800)]
    const periodic = [...Array(3).keys()].map((i) => zeros(4_000).map((_, at) => (at === 3_999 ? 9 : at % (i + 2))))
    const texts = [
      zeros(50_000),
      zeros(50_000).map((_, at) => at & 1),
      zeros(50_000).map((_, at) => (at % 3_999 === 0 ? 3 : 0)),
      zeros(50_000).map((_, at) => (at * 7_919) % 3)
    ]
    for (const words of [nearly, nearly.map((word) => word.toReversed()), periodic, [...nearly, ...periodic]]) {
      for (const text of texts) {
        const automaton = AhoCorasick.make(words)
        let fails = 0
        const counted = {
          ...automaton,
          fail: new Proxy(automaton.fail, { get: (fail, node) => (fails++, Reflect.get(fail, node)) })
        }
        text.reduce((node, value) => AhoCorasick.next(counted, node, value), AhoCorasick.ROOT)
        assert.isAtMost(fails, text.length)
      }
    }
  })
})
