/** A name that a caller chooses: one line of 1 to 63 characters. */
import { Schema } from "effect"

const MAX_NAME = 63
const rule = { message: `must be a text of 1 to ${MAX_NAME} characters` }
const oneLine = Schema.makeFilter((value: string) =>
  /[\p{Cc}\p{Zl}\p{Zp}]/u.test(value) || !value.isWellFormed() ? "must not contain control characters" : undefined
)

export const Name = Schema.String.annotate(rule).check(
  Schema.isNonEmpty(rule),
  Schema.isMaxCodePoints(MAX_NAME, rule),
  oneLine
)
