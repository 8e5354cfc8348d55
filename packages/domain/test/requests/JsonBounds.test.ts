/** Bounds of a JSON text: a refusal names the field that exceeds them, and the content of strings never counts. */
import { assert, describe, it } from "@effect/vitest"
import { findFieldBeyondBounds } from "@sluice/domain/requests/JsonBounds"
import fc from "fast-check"

/** Values and levels of a parsed body, itself included. */
const sizeOf = (value: unknown): { readonly values: number; readonly depth: number } => {
  if (typeof value !== "object" || value === null) return { values: 1, depth: 0 }
  const inner = Object.values(value).map(sizeOf)
  return {
    values: inner.reduce((sum, { values }) => sum + values, 1),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth))
  }
}

const tricky = fc.string({ unit: fc.constantFrom('"', "\\", "{", "[", ",", ":", "a"), maxLength: 6 })
const { body } = fc.letrec<{ body: unknown }>((tie) => ({
  body: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(tricky, fc.integer(), fc.constant(null)),
    fc.array(tie("body"), { maxLength: 5 }),
    fc.dictionary(tricky, tie("body"), { maxKeys: 5 })
  )
}))

describe("JsonBounds", () => {
  it("refuses every text beyond its bounds, and none within", () => {
    const most = fc.integer({ min: 1, max: 12 })
    fc.assert(
      fc.property(body, most, fc.nat(5), fc.constantFrom(undefined, 1), (value, values, depth, indent) => {
        const size = sizeOf(value)
        const refused = findFieldBeyondBounds(JSON.stringify(value, null, indent), { depth, values }) !== undefined
        assert.strictEqual(refused, size.values > values || size.depth > depth)
      }),
      { numRuns: 3_000 }
    )
  })

  it("leaves numbers in lists out of the count of values with that option", () => {
    const bounds = { depth: 4, values: 10, numbers: 100 }
    const list = (length: number) => Array.from({ length }, (_, at) => at)
    for (const indent of [undefined, 1]) {
      const beyond = (value: unknown) => findFieldBeyondBounds(JSON.stringify(value, null, indent), bounds)
      assert.isUndefined(beyond({ a: list(100) }))
      assert.isUndefined(beyond({ a: [list(50), list(50)] }))
      assert.strictEqual(beyond({ a: list(140) }), "a")
      assert.strictEqual(beyond({ a: list(100).map(String) }), "a")
      assert.strictEqual(beyond(Object.fromEntries(list(100).map((at) => [`k${at}`, at]))), "")
    }
  })

  it("names the field that exceeds a bound", () => {
    const bounds = { depth: 4, values: 10 }
    const many = Array.from({ length: 40 }, (_, i) => i)
    const fields = Object.fromEntries(many.map((i) => [`k${i}`, "v"]))
    const named: ReadonlyArray<readonly [unknown, string]> = [
      [{ a: "x", env: fields, z: 1 }, "env"],
      [{ a: "x", list: many }, "list"],
      [{ deep: { b: [[[["x"]]]] } }, "deep"],
      [{ 'a"{': [["b"], fields] }, 'a\\"{'],
      [fields, ""],
      [many, ""],
      [["x", fields], ""]
    ]
    for (const [value, field] of named) assert.strictEqual(findFieldBeyondBounds(JSON.stringify(value), bounds), field)
  })

  it("leaves text that is no JSON to the parser", () => {
    for (const text of ["", '"', '{"a', "]]]]", '"\\"']) {
      assert.isUndefined(findFieldBeyondBounds(text, { depth: 1, values: 2 }))
    }
  })
})
