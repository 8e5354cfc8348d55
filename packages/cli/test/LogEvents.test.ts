/** Exact bytes behind the text of a log, for any bytes, also if the start of a tail is unknown. */
import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { bytesOf, exactBytes, isInexact, pieceOf, rangeOf } from "../src/jobs/LogEvents.ts"

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(
  Schema.isMaxLength(60)
)

describe("exact bytes", () => {
  it.prop("exact bytes are found for any output from a known start", [Bytes, Bytes], ([before, written]) => {
    const log = Uint8Array.from([...before, ...written])
    const text = decoder.decode(Uint8Array.from(written))
    if (!isInexact(text)) return expect([...bytesOf(text)]).toEqual(written)
    const { from, length } = rangeOf(text, log.length, before.length)
    expect([...(exactBytes(log.subarray(from, from + length), text) ?? [])]).toEqual(written)
  })

  it.prop("exact bytes are found for a tail, which starts at a line", [Bytes, Bytes], ([before, written]) => {
    const log = Uint8Array.from([...before, 0x0a, ...written])
    const text = decoder.decode(Uint8Array.from(written))
    if (!isInexact(text)) return
    const { from, length } = rangeOf(text, log.length, undefined)
    const found = exactBytes(log.subarray(from, from + length), text)
    expect(found).toBeDefined()
    expect(decoder.decode(found)).toBe(text)
  })

  it("exact bytes keep a byte order mark", () => {
    expect([...bytesOf("\uFEFFa")]).toEqual([0xef, 0xbb, 0xbf, 0x61])
  })
})

describe("events", () => {
  it("a log event without an offset is refused", () => {
    expect(pieceOf({ event: "log", id: "5", data: '{"text":"hello"}' })).toEqual({
      _tag: "Log",
      text: "hello",
      next: 5
    })
    expect(() => pieceOf({ event: "log", id: undefined, data: '{"text":"hello"}' })).toThrow("offset")
    expect(() => pieceOf({ event: "log", id: "5", data: "{}" })).toThrow()
  })

  it("events of unknown types are skipped", () => {
    expect(pieceOf({ event: "later", id: undefined, data: "{}" })).toBeUndefined()
  })
})
