/** The errors of the inference contract by status. Their messages are in `InferenceErrorTable.ts`. */
import * as Schema from "effect/Schema"
import { nullable } from "../infra/WireFields.ts"

const InferenceErrorBody = Schema.Struct({
  message: Schema.String,
  type: Schema.String,
  code: nullable(Schema.String),
  param: nullable(Schema.String),
  request_id: Schema.String
}).annotate({ identifier: "InferenceError" })

const fields = { error: InferenceErrorBody }

export class InvalidRequest extends Schema.Error<InvalidRequest>("InvalidRequest")(fields, { httpApiStatus: 400 }) {}
class InvalidApiKey extends Schema.Error<InvalidApiKey>("InvalidApiKey")(fields, { httpApiStatus: 401 }) {}
export class QuotaSpent extends Schema.Error<QuotaSpent>("QuotaSpent")(fields, { httpApiStatus: 402 }) {}
class NotPermitted extends Schema.Error<NotPermitted>("NotPermitted")(fields, { httpApiStatus: 403 }) {}
class Unknown extends Schema.Error<Unknown>("Unknown")(fields, { httpApiStatus: 404 }) {}
export class NotEnded extends Schema.Error<NotEnded>("NotEnded")(fields, { httpApiStatus: 409 }) {}
export class TooLarge extends Schema.Error<TooLarge>("TooLarge")(fields, { httpApiStatus: 413 }) {}
export class RangeNotSatisfiable extends Schema.Error<RangeNotSatisfiable>("RangeNotSatisfiable")(fields, {
  httpApiStatus: 416
}) {}
class TooMany extends Schema.Error<TooMany>("TooMany")(fields, { httpApiStatus: 429 }) {}
class Failed extends Schema.Error<Failed>("Failed")(fields, { httpApiStatus: 500 }) {}
export class UpstreamBroken extends Schema.Error<UpstreamBroken>("UpstreamBroken")(fields, { httpApiStatus: 502 }) {}
export class Overloaded extends Schema.Error<Overloaded>("Overloaded")(fields, { httpApiStatus: 503 }) {}
export class TimedOut extends Schema.Error<TimedOut>("TimedOut")(fields, { httpApiStatus: 504 }) {}

export const commonErrors = [InvalidApiKey, NotPermitted, Unknown, TooMany, Failed] as const
/** The errors of endpoints that call a model and wait for its answer. */
export const modelCallErrors = [
  ...commonErrors,
  InvalidRequest,
  QuotaSpent,
  TooLarge,
  UpstreamBroken,
  Overloaded,
  TimedOut
] as const
