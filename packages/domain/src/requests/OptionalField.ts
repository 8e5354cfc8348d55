/** A field that may be omitted or null. */
import { messageOf } from "./BodyIssues.ts"
import * as Schema from "effect/Schema"

/**
 * Returns the schema of the field. A value of another type is refused with the message of `schema`: the message of the
 * union would be in TypeScript's words.
 */
export const optional = <S extends Schema.Top>(schema: S) => {
  const message = messageOf(schema.ast)
  return Schema.optionalKey(Schema.NullOr(schema).annotate(message === undefined ? {} : { message }))
}
