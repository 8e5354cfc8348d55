/** Why a job is not taken, not found or not cancelled. Statuses on the wire are given in `api` alone. */
import { Schema } from "effect"

export class JobNotFound extends Schema.TaggedError<JobNotFound>()("JobNotFound", { id: Schema.String }) {}

/** The job ended already, otherwise than asked for. */
export class JobEnded extends Schema.TaggedError<JobEnded>()("JobEnded", {
  id: Schema.String,
  status: Schema.String
}) {}

/** The machine of a job that was recorded could not be launched: the job is `failed`. */
export class LaunchFailed extends Schema.TaggedError<LaunchFailed>()("LaunchFailed", {
  jobId: Schema.String,
  reason: Schema.String
}) {}

/** The store was lost while the job was recorded: it may be there. `hasIdempotencyKey`: the same request, said again, makes it once. */
export class JobOutcomeUnknown extends Schema.TaggedError<JobOutcomeUnknown>()("JobOutcomeUnknown", {
  jobId: Schema.String,
  hasIdempotencyKey: Schema.Boolean
}) {}

/** No machine can be asked for at present; nothing was recorded. */
export class MachinesUnavailable extends Schema.TaggedError<MachinesUnavailable>()("MachinesUnavailable", {}) {}
