/**
 * Submits a job, or finds the job that an earlier run of the same request created. If the submission is refused, the
 * job is looked for once more: the earlier run may have committed after the first look-up, and hold the money or the
 * volume that is missing.
 */
import { Effect } from "effect"
import type { Attempt } from "../idempotency/Attempt.ts"
import type { Job } from "./Job.ts"

/**
 * `find` returns the job of an attempt, if there is one. A failed launch is not looked for again: its job exists, and
 * its error names it.
 */
export const submitOrFind = <E extends { readonly _tag: string }, R>(
  attempt: Attempt | undefined,
  find: (id: string) => Effect.Effect<Job | undefined>,
  run: Effect.Effect<Job, E, R>
): Effect.Effect<Job, E, R> => {
  if (attempt?.isRetry !== true) return run
  const findOr = (otherwise: Effect.Effect<Job, E, R>) =>
    Effect.filterOrElse(
      find(attempt.id),
      (job) => job !== undefined,
      () => otherwise
    )
  const isRefused = ({ _tag }: E) => _tag !== "LaunchFailed"
  return findOr(Effect.catchIf(run, isRefused, (refused) => findOr(Effect.fail(refused))))
}
