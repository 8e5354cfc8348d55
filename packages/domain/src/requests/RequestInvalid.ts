/** A request to the infrastructure surface that is refused because of its input. */
import { Schema } from "effect"

/** Holds all issues of the request. `path` is dotted, `message` says what would be valid. */
export class RequestInvalid extends Schema.TaggedError<RequestInvalid>()("RequestInvalid", {
  issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
}) {}
