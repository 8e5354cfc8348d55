/**
 * Checks that rows are what their store takes them for. Every store reads its rows through `rowsOf`, in production too: a
 * row costs one to two microseconds. A row that does not fit is a defect that names the store and the column, never a value.
 * The row itself is handed on: nothing is copied or converted.
 */
import { Exit, Schema } from "effect"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import { issuesOf } from "../requests/BodyIssues.ts"

export class RowMisfit extends Schema.TaggedError<RowMisfit>()("RowMisfit", {
  store: Schema.String,
  column: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `a row of ${this.store} does not fit its schema at ${this.column}: ${this.problem}`
  }
}

/** Schemas of what the database client gives: they name types and convert nothing. */
export type RowSchema = Schema.Struct<Schema.Struct.Fields> & { readonly DecodingServices: never }

/** The schema is compiled where the first row is read. */
export const rowsOf = <S extends RowSchema>(store: string, schema: S) => {
  let fits: ((row: unknown) => boolean) | undefined
  const compiled = () => {
    SchemaJITCompiler.enable(schema.ast)
    return Schema.is(schema)
  }
  return (rows: ReadonlyArray<object>): ReadonlyArray<S["Type"]> => {
    fits ??= compiled()
    for (const row of rows) if (!fits(row)) throw misfitOf(store, schema, row)
    return rows as ReadonlyArray<S["Type"]>
  }
}

const misfitOf = (store: string, schema: RowSchema, row: object): RowMisfit => {
  const exit = Schema.decodeUnknownExit(schema)(row)
  const error = Exit.findErrorOption(exit)
  const issue = error._tag === "Some" ? issuesOf(error.value.issue, row)[0] : undefined
  return new RowMisfit({
    store,
    column: issue?.path.join(".") || "the row",
    problem: issue?.message ?? "of another shape"
  })
}

/** A JSON column that this service writes and reads: its terms grow, and each that an old row lacks has a default where it is read. */
export const jsonOf = <T extends object>() =>
  Schema.declare<T>((value): value is T => typeof value === "object" && value !== null)

const totals = rowsOf("a count", Schema.Struct({ total: Schema.BigInt }))
/** Of a statement that answers `count(*) as total`. */
export const totalOf = (rows: ReadonlyArray<object>): number => Number(totals(rows)[0]?.total ?? 0n)
