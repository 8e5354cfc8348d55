/** A request to the infrastructure surface that can't be taken as it is. */
import { Schema } from "effect"

/** Everything that is wrong with it, all at once. `path` is dotted, `message` says what would be right. */
export class RequestInvalid extends Schema.TaggedError<RequestInvalid>()("RequestInvalid", {
  issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
}) {}
