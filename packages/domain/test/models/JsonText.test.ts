import { describe, expect, it } from "@effect/vitest"
import { bodyDecoder } from "@sluice/domain/models/BodyCheck"
import { parseJson } from "@sluice/domain/models/JsonText"
import { Result, Schema } from "effect"
import fc from "fast-check"

const refusal = (text: string) => {
  const read = parseJson(text)
  return Result.isFailure(read) ? read.failure.message : undefined
}

describe("the JSON text of a body", () => {
  it("is refused unparsed where it has millions of values or endless levels", () => {
    const many = Array.from({ length: 400_000 }, (_, at) => `"k${at}":1`).join()
    for (const text of [
      `{${many}}`,
      "[".repeat(19_000_000),
      `[${"1,".repeat(9_000_000)}1]`,
      `[${'"",'.repeat(900_000)}""]`
    ]) {
      expect(refusal(text)).toContain("more than 100000 values")
    }
  })

  it("is refused by the field that holds too much, where that is one", () => {
    const nested = (depth: number) => `${"[".repeat(depth)}1${"]".repeat(depth)}`
    const many = `[${"1,".repeat(100_000)}1]`
    const pad = `"user":"${"x".repeat(140_000)}"`
    const key = "k".repeat(65)
    for (const [text, param] of [
      [`{"model":"m",${pad},"messages":${nested(64)}}`, "messages"],
      [`{"model":"m",${pad},"input":${many},"stream":true}`, "input"],
      [`{"model":"m",${pad},"${key}":${many}}`, null],
      [many, null]
    ] as const) {
      const read = parseJson(text)
      expect(Result.isFailure(read) && read.failure.param).toBe(param)
      const checked = bodyDecoder(Schema.Unknown)(JSON.parse(text))
      expect(Result.isFailure(checked) && checked.failure.param).toBe(param)
    }
  })

  it("may be as long as its strings", () => {
    const image = "A".repeat(15_000_000)
    const escaped = '\\\\\\"'.repeat(500_000)
    for (const text of [`{"image":"${image}"}`, `["${escaped}","[[[["]`, `["${"\\\\".repeat(1_000_000)}"]`]) {
      expect(refusal(text)).toBeUndefined()
    }
    expect(refusal(`["${image}`)).toContain("must be JSON")
  })

  it("is parsable where it is small, whatever its strings hold", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const padded = JSON.stringify([value, "x".repeat(140_000), '"\\[{,:'])
        expect(Result.getOrThrow(parseJson(padded))).toEqual(JSON.parse(padded))
      }),
      { numRuns: 50 }
    )
  })
})
