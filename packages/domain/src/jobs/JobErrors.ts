/** The errors of jobs: not accepted, not found, not cancelled. The api package maps them to statuses. */
import { Schema } from "effect"

export class JobNotFound extends Schema.TaggedError<JobNotFound>()("JobNotFound", { id: Schema.String }) {}

/** The job has ended already, with a status other than the requested one. */
export class JobEnded extends Schema.TaggedError<JobEnded>()("JobEnded", {
  id: Schema.String,
  status: Schema.String
}) {}

/** The job was recorded, but its machine could not be launched: the job is `failed`. */
export class LaunchFailed extends Schema.TaggedError<LaunchFailed>()("LaunchFailed", {
  jobId: Schema.String,
  reason: Schema.String
}) {}

/**
 * The connection to the database was lost while the job was recorded, so the job may exist. With an Idempotency-Key
 * (`hasIdempotencyKey`) a retry of the request creates it once.
 */
export class JobOutcomeUnknown extends Schema.TaggedError<JobOutcomeUnknown>()("JobOutcomeUnknown", {
  jobId: Schema.String,
  hasIdempotencyKey: Schema.Boolean
}) {}

/** The machine provider does not answer. Nothing was recorded. */
export class MachinesUnavailable extends Schema.TaggedError<MachinesUnavailable>()("MachinesUnavailable", {}) {}
