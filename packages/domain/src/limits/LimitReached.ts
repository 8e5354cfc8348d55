/** A workspace has as many of something as it may have: what a caller can make for nothing is bounded too. */
import { Schema } from "effect"

/** Of each kind, in one workspace. */
export const MAX_PER_KIND = 1_000

export class LimitReached extends Schema.TaggedError<LimitReached>()("LimitReached", {
  kind: Schema.Literals(["API keys", "volumes"]),
  most: Schema.Int
}) {}
