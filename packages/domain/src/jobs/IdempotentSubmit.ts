/**
 * A run of a request that is said again has the job that an earlier run made. It is looked for once more where it is refused:
 * the money or the volume that stands in the way may be what the earlier run took, which came through after the first look.
 */
import { Effect } from "effect"
import type { Attempt } from "../idempotency/Attempt.ts"
import type { Job } from "./Job.ts"

/** `find`: the job of an attempt, if there is one. A launch that failed has one, and is told as it is. */
export const submitOrFind = <E extends { readonly _tag: string }, R>(
  attempt: Attempt | undefined,
  find: (id: string) => Effect.Effect<Job | undefined>,
  run: Effect.Effect<Job, E, R>
): Effect.Effect<Job, E, R> => {
  if (attempt?.isRetry !== true) return run
  const foundOr = (other: Effect.Effect<Job, E, R>) =>
    Effect.filterOrElse(
      find(attempt.id),
      (job) => job !== undefined,
      () => other
    )
  const isRefused = ({ _tag }: E) => _tag !== "LaunchFailed"
  return foundOr(Effect.catchIf(run, isRefused, (refused) => foundOr(Effect.fail(refused))))
}
