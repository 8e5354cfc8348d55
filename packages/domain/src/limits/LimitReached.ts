/**
 * The error for a workspace that has the maximum number of a resource. Resources that cost nothing have a maximum too,
 * so that no caller can fill the database with them.
 */
import { Schema } from "effect"

/** The maximum number of resources of each kind in one workspace. */
export const MAX_PER_KIND = 1_000

export class LimitReached extends Schema.TaggedError<LimitReached>()("LimitReached", {
  kind: Schema.Literals(["API keys", "volumes"]),
  limit: Schema.Int
}) {}
