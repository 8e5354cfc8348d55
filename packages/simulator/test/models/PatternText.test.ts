/** An engine confirms the texts of patterns. An expression that is not understood is refused before anything runs. */
import { expect, it } from "@effect/vitest"
import { Work } from "@sluice/simulator/models/JsonSchemas"
import { patternText } from "@sluice/simulator/models/PatternText"
import fc from "fast-check"

const NO_LENGTH = "no text of its pattern has its length"
const textOf = (pattern: string, least: number, most: number, key: number): string =>
  patternText(pattern, [least, most], key, new Work({}))

/** Undefined: the pattern has no text of this length. */
const textOrNone = (...asked: Parameters<typeof textOf>): string | undefined => {
  try {
    return textOf(...asked)
  } catch (error) {
    if (error instanceof Error && error.message === NO_LENGTH) return undefined
    throw error
  }
}

it("texts match the patterns that people write", () => {
  for (const pattern of [
    "^a$",
    "a|b",
    "^[A-Z]{2}-\\d{3,5}$",
    "^(foo|bar)_[a-z0-9]*$",
    "^#(?:[0-9a-fA-F]{3}){1,2}$",
    "^(?<year>\\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$",
    "^\\+?[1-9]\\d{1,14}$",
    "^[^@\\s]+@[^@\\s]+\\.[^@\\s]{2,}$",
    "^([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$",
    "^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}$".replace("(?:\\.(?!$)|$)", "\\."),
    "^[\\w.%+-]+$",
    "^\\S+\\s\\D\\W[\\]\\\\-]$",
    "^[ -~]{1,20}?$",
    "^[^\\W_]\\u0041\\x42\\u{43}é[一-龥]$",
    "^\\$\\d+(\\.\\d{2})?$|^free$",
    "(a*)*b",
    "^((a|b)+,?){2,3}$",
    ""
  ]) {
    const texts = new Set(Array.from({ length: 50 }, (_, key) => textOf(pattern, 0, 10_000, key)))
    for (const text of texts)
      expect([pattern, text, new RegExp(pattern, "u").test(text)]).toEqual([pattern, text, true])
    expect(textOf(pattern, 0, 10_000, 7)).toBe(textOf(pattern, 0, 10_000, 7))
  }
})

it("texts match random patterns and have the required length, or every draw is refused", () => {
  const { pattern } = fc.letrec<{ readonly pattern: string; readonly atom: string }>((tie) => ({
    atom: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom("a", "\\d", "\\w", "[a-c]", "[^a-z\\d]", ".", "\\.", "-"),
      tie("pattern").map((inner) => `(?:${inner})`)
    ),
    pattern: fc
      .array(
        fc.array(
          fc
            .tuple(tie("atom"), fc.constantFrom("", "", "?", "*", "+", "{2}", "{1,3}", "{2,}", "+?"))
            .map((two) => two.join("")),
          { minLength: 1, maxLength: 4 }
        ),
        { minLength: 1, maxLength: 3 }
      )
      .map((options) => options.map((parts) => parts.join("")).join("|"))
  }))
  const property = fc.property(pattern, fc.nat(20), fc.nat(20), (pattern, least, more) => {
    fc.pre(pattern.length <= 60)
    const texts = [1, 2, 3].map((key) => textOrNone(pattern, least, least + more, key))
    expect(new Set(texts.map((text) => text === undefined)).size).toBe(1)
    for (const text of texts) {
      if (text === undefined) continue
      expect([text.length >= least, text.length <= least + more]).toEqual([true, true])
      // Each alternative alone: an engine must not match only a part of the text.
      expect([pattern, text, new RegExp(`^(?:${pattern})$`, "u").test(text)]).toEqual([pattern, text, true])
    }
  })
  fc.assert(property, { numRuns: 500 })
})

it("unsupported patterns and impossible lengths are refused by name, at once", () => {
  for (const pattern of [
    "^(?=a)a$",
    "(?<!a)b",
    "(a)\\1",
    "\\bword\\b",
    "\\p{L}+",
    "a$b",
    "(^a)",
    "[z-a]",
    "[]",
    "a**",
    "a{2,1}",
    "a{,3}",
    "(a",
    "a)",
    "[a",
    "\\",
    "\\u12",
    "(".repeat(31) + ")".repeat(31),
    "a".repeat(1_001)
  ]) {
    expect(() => textOf(pattern, 0, 100, 1), pattern).toThrow(/^the keyword "pattern" is not supported with /)
  }
  for (const [pattern, least, most] of [
    ["^a{5}$", 0, 4],
    ["^a{5}$", 6, 10],
    ["^(aaa|b)$", 2, 2],
    ["(a{99999}){99999}", 0, 10_000],
    ["^(?:aa)+$", 3, 3]
  ] as const) {
    expect(() => textOf(pattern, least, most, 1), pattern).toThrow(NO_LENGTH)
  }
  // An engine takes ages for these.
  expect(textOf("^(a+)+$", 30, 30, 1)).toBe("a".repeat(30))
  expect(textOf("^((a?){99999}){99999}b$", 0, 100, 1)).toMatch(/^a?b$/)
})
