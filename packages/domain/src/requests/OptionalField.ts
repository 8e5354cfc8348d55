/** A field that may be left out or be null. */
import * as Schema from "effect/Schema"

/** What is neither is refused in the words of `schema`: those of the union of both would be TypeScript's. */
export const optional = <S extends Schema.Top>(schema: S) => {
  const { annotations, checks = [] } = schema.ast
  const messages = [annotations, ...checks.map((check) => check.annotations)].map((one) => one?.["message"])
  const message = messages.find((one) => typeof one === "string")
  return Schema.optionalKey(Schema.NullOr(schema).annotate(message === undefined ? {} : { message }))
}
