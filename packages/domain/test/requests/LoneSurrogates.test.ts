import { describe, expect, it } from "@effect/vitest"
import { pathText } from "@sluice/domain/requests/BodyIssues"
import { parseJson } from "@sluice/domain/models/JsonText"
import { cutText, loneSurrogates } from "@sluice/domain/requests/LoneSurrogates"
import { Result } from "effect"
import fc from "fast-check"

const pathsOf = (value: unknown, most = 100) => {
  // JSON.stringify spells lone surrogates out, as any caller has to.
  const text = JSON.stringify(value)
  return loneSurrogates(text, JSON.parse(text), most).map(pathText)
}

describe("a lone surrogate", () => {
  it("is found in texts and in names, wherever they are", () => {
    expect(pathsOf("\ud800")).toEqual([""])
    expect(pathsOf({ model: "a\udfff", user: "ok" })).toEqual(["model"])
    expect(pathsOf({ messages: [{ content: "ok" }, { content: [{ text: "\udc00\ud800" }] }] })).toEqual([
      "messages.1.content.0.text"
    ])
    expect(pathsOf({ metadata: { "\ud800": "x", "": "\ud83d" } })).toEqual(["metadata.\ufffd", 'metadata.""'])
    expect(pathsOf({ a: "\ud800", b: "\ud800", c: "\ud800" }, 2)).toEqual(["a", "b"])
  })

  it("is no pair, and no text that speaks of one", () => {
    expect(pathsOf({ emoji: "👩‍🚀", said: "\\ud800", name: "東京", escaped: "\u0000" })).toEqual([])
    expect(loneSurrogates('{"a":"\\ud83d\\ude00"}', { a: "\ud83d\ude00" }, 1)).toEqual([])
  })

  it("is found by the parser of the inference surface exactly where the body has one", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }), fc.boolean(), (value, broken) => {
        const text = JSON.stringify({ value, more: broken ? "\udead" : "" })
        expect(Result.isFailure(parseJson(text))).toBe(broken)
      })
    )
  })
})

it("a text is cut between characters", () => {
  expect([cutText("ab👩", 3), cutText("ab👩", 4), cutText("ab", 9)]).toEqual(["ab\ufffd", "ab👩", "ab"])
})
