/** Failures that the server's edge finds and no domain service: rate, body, store, shutdown and the unforeseen. */
import * as Schema from "effect/Schema"

/** The key has made more requests than its limit allows in this window. */
export class RateExceeded extends Schema.TaggedError<RateExceeded>()("RateExceeded", {
  limit: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {}

export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", { limitBytes: Schema.Int }) {}

/** The request's body was evicted, because the space for bodies is full. */
export class BodyCrowdedOut extends Schema.TaggedError<BodyCrowdedOut>()("BodyCrowdedOut", {}) {}

/** A defect of the server. Its cause is logged and not returned. */
export class Unexpected extends Schema.TaggedError<Unexpected>()("Unexpected", {}) {}

/** The server stops before the answer is complete. */
export class ServerStopping extends Schema.TaggedError<ServerStopping>()("ServerStopping", {}) {}

/** The database is unavailable, or the request lost a conflict with another transaction. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {}) {}

export type EdgeFailure = RateExceeded | BodyTooLarge | BodyCrowdedOut | Unexpected | ServerStopping | StoreUnavailable
