/** How a call of a model fails at the provider. The api package gives each reason its status and words. */
import { Schema } from "effect"

/**
 * `refused`, `too_large`: the model does not take this request. `too_long`: it has more tokens than the model takes. `denied`:
 * the model is not there for this service, whatever is asked. `forbidden`: which of the two it is, is not known. `unserved`: it
 * took the request and gave less, or something else.
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
  /** Of `overloaded`: when it may be otherwise, where that is known. */
  retryAfterSeconds: Schema.optionalKey(Schema.Int)
}) {}
