/**
 * Errors of authentication and of API keys. Unknown, inactive and deleted keys give one error on purpose (decisions:
 * Tenancy).
 */
import { Schema } from "effect"

export class KeyInvalid extends Schema.TaggedError<KeyInvalid>()("KeyInvalid", {}) {}

export class ScopeMissing extends Schema.TaggedError<ScopeMissing>()("ScopeMissing", { scope: Schema.String }) {}

/** `?environment=` and `X-Environment` are both given and differ. */
export class EnvironmentAmbiguous extends Schema.TaggedError<EnvironmentAmbiguous>()("EnvironmentAmbiguous", {}) {}

export class ApiKeyNotFound extends Schema.TaggedError<ApiKeyNotFound>()("ApiKeyNotFound", { id: Schema.String }) {}

export class WorkspaceNotFound extends Schema.TaggedError<WorkspaceNotFound>()("WorkspaceNotFound", {
  name: Schema.String
}) {}

export class WorkspaceNameTaken extends Schema.TaggedError<WorkspaceNameTaken>()("WorkspaceNameTaken", {
  name: Schema.String
}) {}
