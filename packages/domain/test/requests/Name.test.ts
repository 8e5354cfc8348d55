import { describe, expect, it } from "@effect/vitest"
import { Name, nameIssue, visibleLine } from "@sluice/domain/requests/Name"
import { Schema } from "effect"

const hex = (code: number) => `a${String.fromCodePoint(code)}b`
const isName = Schema.is(Name)
const isLine = Schema.is(Schema.String.check(visibleLine))

describe("a name", () => {
  it("is refused where it has a character that changes the direction of text", () => {
    const codes = [0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x200e, 0x200f, 0x61c]
    for (const text of codes.map(hex)) {
      expect([text, isName(text), isLine(text), nameIssue(text)]).toEqual([
        text,
        false,
        false,
        "must not contain characters that change the direction of text, like U+202E"
      ])
    }
  })

  it("is refused where it has a control character or an end of a line", () => {
    for (const text of [0, 7, 9, 10, 13, 0x1b, 0x7f, 0x85, 0x2028, 0x2029].map(hex)) {
      expect([text, isName(text), nameIssue(text)]).toEqual([text, false, "must not contain control characters"])
    }
  })

  it("is refused where nothing of it is seen", () => {
    for (const text of [" ", "   ", "\u00a0", "\u3000 ", "\u200b", "\u2060\ufeff", "\u2800", "\u3164"]) {
      expect([text, isName(text), isLine(text), nameIssue(text)]).toEqual([
        text,
        false,
        false,
        "must not be only blanks"
      ])
    }
  })

  it("is refused where it is half a surrogate pair, empty or longer than 63 characters", () => {
    for (const text of ["a\ud800", "\udc00", "", "x".repeat(64), "\u{1f600}".repeat(64)]) {
      expect([text, isName(text), nameIssue(text) === undefined]).toEqual([text, false, false])
    }
  })

  it("may be of any script, with blanks and marks within", () => {
    for (const text of ["a", " a ", "été 2026", "東京", "שלום", "مرحبا", "👩‍🚀", "\u{1f600}".repeat(63), "a\u200db"]) {
      expect([text, isName(text), nameIssue(text)]).toEqual([text, true, undefined])
    }
  })
})
