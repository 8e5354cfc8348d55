/** Masking: it equals its naive model for any values, output and chunking, and reads each byte a bounded number of times. */
import { assert, describe, it } from "@effect/vitest"
import * as Mask from "@sluice/domain/machines/Mask"
import fc from "fast-check"

const text = new TextDecoder()
const bytes = new TextEncoder()

const standsAt = (output: Uint8Array, at: number, value: Uint8Array): boolean =>
  value.subarray(0, output.length - at).every((byte, i) => output[at + i] === byte)

/** The naive model: it compares every value at every byte. */
const naive = (output: Uint8Array, values: ReadonlyArray<Uint8Array>, final: boolean): Uint8Array => {
  const out = output.slice()
  for (let at = 0; at < output.length;) {
    const candidates = values.filter((value) => standsAt(output, at, value))
    const whole = candidates.filter((value) => value.length <= output.length - at)
    if (!final && whole.length < candidates.length) return out.subarray(0, at)
    const length = Math.max(0, ...whole.map((value) => value.length))
    out.fill(0x2a, at, at + length)
    at += Math.max(1, length)
  }
  return out
}

/** Values that overlap, repeat, contain each other and share prefixes, and an output that is full of them and of their parts. */
const cases = fc.constantFrom("ab", "abc", "a").chain((letters) => {
  const letter = fc.constantFrom(...letters)
  const value = fc.oneof(
    fc.string({ unit: letter, minLength: Mask.MIN_CHARACTERS, maxLength: 14 }),
    fc.string({ unit: letter, minLength: 1, maxLength: 3 }).map((period) => period.repeat(9).slice(0, 13))
  )
  return fc.array(value, { minLength: 1, maxLength: 6 }).chain((first) => {
    const values = [...first, ...first.map((one) => one + first[0]!.slice(2, 6)), first[0]!.slice(1) + "b"]
    const part = fc
      .tuple(fc.constantFrom(...values), fc.nat(6), fc.integer({ min: 7, max: 20 }))
      .map(([one, from, to]) => one.slice(from, to))
    const piece = fc.oneof(
      part,
      fc.constantFrom(...values),
      fc.string({ unit: letter, maxLength: 4 }),
      fc.constant("\n")
    )
    return fc.tuple(
      fc.subarray(values, { minLength: 1 }),
      fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(""))
    )
  })
})

describe("Mask", () => {
  it("equals its naive model, in its output and in its held-back bytes", () => {
    fc.assert(
      fc.property(cases, fc.boolean(), ([values, output], final) => {
        const needles = Mask.needles(values)
        const given = bytes.encode(output)
        const masked = Mask.mask(given, needles, final)
        const expected = naive(given, needles, final)
        assert.strictEqual(text.decode(masked), text.decode(expected))
        assert.strictEqual(text.decode(given), output, "what was given is left as it was")
      }),
      { numRuns: 5_000 }
    )
  })

  it("hides every occurrence of a value, for any cut of the output, and changes nothing else", () => {
    fc.assert(
      fc.property(cases, fc.array(fc.nat(120), { maxLength: 10 }), ([values, output], cuts) => {
        const whole = bytes.encode(output)
        const needles = Mask.needles(values)
        const ends = [...cuts.filter((cut) => cut < whole.length).sort((a, b) => a - b), whole.length]
        let given = ""
        for (const end of ends) {
          given += text.decode(Mask.mask(whole.subarray(given.length, end), needles, end === whole.length))
        }
        assert.strictEqual(given, text.decode(naive(whole, needles, true)))
      }),
      { numRuns: 3_000 }
    )
  })

  it("reads a byte of the output a few times at most, and holds back less than the longest value", () => {
    const zeros = "0".repeat(32_700)
    const adversaries = [
      [`${zeros}b`, `${zeros.slice(100)}cc`],
      [`b${zeros}`, `cc${zeros.slice(100)}`],
      ["0".repeat(8), `${zeros}b`],
      [`${"01".repeat(16_000)}b`, `${"10".repeat(16_000)}c`],
      Array.from({ length: 200 }, (_, i) => "0".repeat(8 + i)),
      Array.from({ length: 200 }, (_, i) => `${"0".repeat(310)}${i}`)
    ]
    const outputs = [new Uint8Array(262_144).fill(0x30), new Uint8Array(262_144).map((_, at) => 0x30 + (at & 1))]
    for (const values of adversaries) {
      for (const output of outputs) {
        // A read of the length at each byte counts too.
        let left = 3 * output.length
        const counted = new Proxy(output, {
          get: (target, key) => {
            if (left-- === 0)
              throw new Error(`read too often, of ${values.length} values like ${values[0]!.slice(0, 9)}`)
            const found: unknown = Reflect.get(target, key)
            return typeof found === "function" ? found.bind(target) : found
          }
        })
        const needles = Mask.needles(values)
        const masked = Mask.mask(counted, needles, false)
        assert.isBelow(output.length - masked.length, Math.max(...needles.map((needle) => needle.length)))
      }
    }
  })

  it("leaves values of less than 8 characters alone, however many bytes they have", () => {
    assert.deepStrictEqual(
      Mask.needles(["1234567", "12345678", "日本語", "🌍🌍🌍🌍🌍🌍🌍", "日本語日本語日本"]).map((needle) =>
        text.decode(needle)
      ),
      ["12345678", "日本語日本語日本"]
    )
  })
})
