/** A field that may be left out or be null. */
import { wordsOf } from "./BodyIssues.ts"
import * as Schema from "effect/Schema"

/** What is neither is refused in the words of `schema`: those of the union of both would be TypeScript's. */
export const optional = <S extends Schema.Top>(schema: S) => {
  const message = wordsOf(schema.ast)
  return Schema.optionalKey(Schema.NullOr(schema).annotate(message === undefined ? {} : { message }))
}
