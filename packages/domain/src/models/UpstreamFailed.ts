/** The error of a failed call of a model. The api package maps each reason to a status and a message. */
import { Schema } from "effect"

/**
 * `refused`, `too_large`: the model does not accept this request. `too_long`: the request has more tokens than the
 * model accepts. `denied`: the model serves no request of this service. `forbidden`: one of these two, unknown which.
 * `unserved`: the model accepted the request, and returned less than was requested or something else.
 */
export class UpstreamFailed extends Schema.TaggedError<UpstreamFailed>()("UpstreamFailed", {
  reason: Schema.Literals([
    "refused",
    "too_large",
    "too_long",
    "denied",
    "forbidden",
    "unserved",
    "overloaded",
    "broken",
    "timeout"
  ]),
  /** Only for `overloaded`: when a retry may succeed, if it is known. */
  retryAfterSeconds: Schema.optionalKey(Schema.Int)
}) {}
