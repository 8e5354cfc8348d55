/** The parser of `Range` headers. */
import { expect, it } from "@effect/vitest"
import { rangeOf } from "@sluice/server/http/ByteRange"

it("one range of bytes is parsed with its unit in any case; any other text is no range", () => {
  for (const [header, range] of [
    ["bytes=0-1", { start: 0, end: 1 }],
    ["BYTES=0-1", { start: 0, end: 1 }],
    ["Bytes=5-", { start: 5, end: undefined }],
    ["bytes=-5", { suffix: 5 }],
    ["bytes=5-4", undefined],
    ["bytes=-", undefined],
    ["bytes=0-1,3-4", undefined],
    ["lines=0-1", undefined],
    [undefined, undefined]
  ] as const) {
    expect([header, rangeOf(header)]).toEqual([header, range])
  }
})

it("a range of one byte is that byte: where a range starts and ends is included", () => {
  expect(rangeOf("bytes=0-0")).toEqual({ start: 0, end: 0 })
  expect(rangeOf("bytes=7-7")).toEqual({ start: 7, end: 7 })
  expect(rangeOf("bytes=-1")).toEqual({ suffix: 1 })
})
