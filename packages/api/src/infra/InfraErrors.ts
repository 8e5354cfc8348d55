/**
 * The error bodies of the infrastructure surface, one class per status, and the closed list of error codes (interface:
 * Errors; decisions: Infrastructure surface). The OpenAPI document and the typed client use the classes; the server
 * writes the same bodies from `WireError`.
 */
import * as Schema from "effect/Schema"

/** HTTP status of each error code. */
export const errorCodes = {
  validation_error: 422,
  unauthorized: 401,
  BUDGET_REACHED: 402,
  insufficient_credits: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  idempotency_in_progress: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  rate_limited: 429,
  internal_error: 500,
  service_unavailable: 503
} as const
export type ErrorCode = keyof typeof errorCodes

/** The error envelope (interface: Envelopes). */
const ErrorBody = Schema.Struct({
  code: Schema.String,
  message: Schema.String,
  details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
}).annotate({ identifier: "Error" })

const fields = { error: ErrorBody }

/** Missing or invalid API key. */
export class Unauthorized extends Schema.Error<Unauthorized>("Unauthorized")(fields, { httpApiStatus: 401 }) {}
/** `BUDGET_REACHED` or `insufficient_credits`. */
export class PaymentRequired extends Schema.Error<PaymentRequired>("PaymentRequired")(fields, { httpApiStatus: 402 }) {}
export class Forbidden extends Schema.Error<Forbidden>("Forbidden")(fields, { httpApiStatus: 403 }) {}
export class NotFound extends Schema.Error<NotFound>("NotFound")(fields, { httpApiStatus: 404 }) {}
/** `conflict` or `idempotency_in_progress`; `x-should-retry` says which of them a client may retry. */
export class Conflict extends Schema.Error<Conflict>("Conflict")(fields, { httpApiStatus: 409 }) {}
/** `validation_error` with `details.issues`, or `idempotency_mismatch`. */
export class Unprocessable extends Schema.Error<Unprocessable>("Unprocessable")(fields, { httpApiStatus: 422 }) {}
export class InternalError extends Schema.Error<InternalError>("InternalError")(fields, { httpApiStatus: 500 }) {}
export class ServiceUnavailable extends Schema.Error<ServiceUnavailable>("ServiceUnavailable")(fields, {
  httpApiStatus: 503
}) {}
