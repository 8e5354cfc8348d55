/** Rows are checked against their schema: one that does not fit is a defect that names the store and the column. */
import { assert, describe, it } from "@effect/vitest"
import { jsonOf, RowMisfit, rowsOf, totalOf } from "@sluice/domain/database/RowDecoder"
import { Schema } from "effect"

const Row = Schema.Struct({
  id: Schema.String,
  price: Schema.BigInt,
  ended_at: Schema.NullOr(Schema.Date),
  spec: jsonOf<{ readonly command: string }>()
})
const rows = rowsOf("JobStore", Row)
const fitting = { id: "a", price: 5n, ended_at: new Date(0), spec: { command: "true" } }

const misfitOf = (row: object): unknown => {
  try {
    rows([fitting, row])
    return undefined
  } catch (error) {
    return error
  }
}

describe("Rows that are read", () => {
  it("are handed on as they are where they fit, with columns that the schema does not name", () => {
    const row = { ...fitting, other: 1 }
    assert.strictEqual(rows([row])[0], row)
    assert.deepStrictEqual(rows([{ ...fitting, ended_at: null }])[0]?.ended_at, null)
  })

  it("are a defect that names store and column where a column has another type or is missing", () => {
    const misfit = misfitOf({ ...fitting, price: 5 })
    assert.instanceOf(misfit, RowMisfit)
    assert.deepInclude(misfit, { store: "JobStore", column: "price" })
    assert.deepInclude(misfitOf({ ...fitting, ended_at: undefined }), { column: "ended_at" })
    assert.deepInclude(misfitOf({ id: "a", price: 5n, ended_at: null }), { column: "spec" })
    assert.deepInclude(misfitOf({ ...fitting, spec: "text" }), { column: "spec" })
  })

  it("never show a value in the defect", () => {
    assert.notInclude(String(misfitOf({ ...fitting, price: "a-secret" })), "a-secret")
  })

  it("are counted by the one column that a count answers", () => {
    assert.strictEqual(totalOf([{ total: 3n }]), 3)
    assert.strictEqual(totalOf([]), 0)
    assert.throws(() => totalOf([{ total: 3 }]), /total/)
  })
})
