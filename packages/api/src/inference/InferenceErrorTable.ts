/**
 * Maps failures of the inference surface to errors in the form of OpenAI's clients: status, type, code and message, in
 * one table (interface: Errors, Inference surface; decisions: Error types). Messages never contain an upstream's text
 * or address.
 */
import type { KeyInvalid, ScopeMissing } from "@sluice/domain/access/AccessErrors"
import { usdText } from "@sluice/domain/billing/Money"
import type { EnvironmentNotFound } from "@sluice/domain/environments/Environment"
import { type ClientStalled, type FileTooLarge, TOO_LONG } from "@sluice/domain/models/InferenceErrors"
import { cutText } from "@sluice/domain/requests/LoneSurrogates"
import type { VideoError } from "@sluice/domain/videos/Videos"
import type { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { videoWireId } from "../videos/VideoWire.ts"
import type { EdgeFailure } from "./EdgeFailures.ts"
import { badGateway, withoutRetry, type InferenceWireError, invalidRequest, unavailable } from "./InferenceWireError.ts"

export type InferenceFailure =
  | ClientStalled
  | EdgeFailure
  | EnvironmentNotFound
  | FileTooLarge
  | KeyInvalid
  | ScopeMissing
  | VideoError

export const inferenceErrorOf = (failure: InferenceFailure): InferenceWireError =>
  (table[failure._tag] as (failure: InferenceFailure) => InferenceWireError)(failure)

const overloaded = (when: string) =>
  unavailable("model_overloaded", `The model has more requests than it can answer. Try again ${when}.`)

const upstream: Readonly<Record<UpstreamFailed["reason"], InferenceWireError>> = {
  refused: invalidRequest(
    400,
    "upstream_refused",
    "The model's server refused this request. Check that the model supports all that it uses, such as tools, " +
      "response_format or images."
  ),
  too_large: invalidRequest(
    413,
    "upstream_refused",
    "The model's server refused this request because it is too large. Send less at once."
  ),
  too_long: invalidRequest(400, "context_length_exceeded", TOO_LONG),
  unserved: withoutRetry(
    badGateway(
      "upstream_refused",
      "The model's server did not return what the request asks for. Check that the model supports it, such as n, size or a format."
    )
  ),
  denied: withoutRetry(
    badGateway(
      "upstream_denied",
      "The model's server refused this service, or lacks something that this service needs. The operator of this " +
        "service must correct that; the same request fails until then."
    )
  ),
  forbidden: withoutRetry(
    badGateway("upstream_forbidden", "The model's server does not allow this request. The same request fails again.")
  ),
  broken: badGateway(
    "upstream_broken",
    "The model could not be reached, or its answer was incomplete or invalid. Try again."
  ),
  overloaded: overloaded("shortly"),
  timeout: {
    status: 504,
    type: "timeout_error",
    code: "upstream_timeout",
    message: "The model did not answer in time. Try again."
  }
}

const table: {
  readonly [Tag in InferenceFailure["_tag"]]: (
    failure: Extract<InferenceFailure, { readonly _tag: Tag }>
  ) => InferenceWireError
} = {
  KeyInvalid: () => ({
    status: 401,
    type: "authentication_error",
    code: "invalid_api_key",
    message: "Send a valid, active API key as `Authorization: Bearer svc_live_...`.",
    headers: { "www-authenticate": "Bearer" }
  }),
  ScopeMissing: ({ scope }) => ({
    status: 403,
    type: "permission_error",
    code: "forbidden",
    message: `This API key lacks the scope ${scope}. Use a key that has it.`
  }),
  EnvironmentNotFound: () =>
    invalidRequest(
      404,
      "environment_not_found",
      "There is no such environment in this workspace; check the header X-Environment."
    ),
  ModelRequestInvalid: ({ message, code, param }) => invalidRequest(400, code, message, param),
  ModelNotFound: ({ model }) =>
    invalidRequest(
      404,
      "model_not_found",
      `There is no model '${cutText(model, 100)}' for this endpoint. GET /v1/models lists all models and their capabilities.`,
      "model"
    ),
  BodyTooLarge: ({ limitBytes }) =>
    invalidRequest(413, "payload_too_large", `The body is larger than ${limitBytes} bytes. Send less at once.`),
  BodyCrowdedOut: () =>
    unavailable(
      "server_busy",
      "The server's space for request bodies is full, and this request was dropped. Send it again shortly."
    ),
  FileTooLarge: ({ limitBytes, param }) =>
    invalidRequest(
      413,
      "file_too_large",
      // Sound can be sent in parts, an image can't.
      `The file is larger than ${limitBytes} bytes. ${param === "file" ? "Send it in parts." : "Send a smaller one."}`,
      param
    ),
  BudgetReached: ({ environmentName }) => ({
    status: 402,
    type: "insufficient_quota",
    code: "BUDGET_REACHED",
    message:
      `The monthly budget of environment ${environmentName} is spent, or the rest of it is held for running requests. ` +
      "Raise it with PATCH /api/v1/environments/{id}, or wait for the next UTC month."
  }),
  CreditInsufficient: ({ required, available }) => ({
    status: 402,
    type: "insufficient_quota",
    code: "insufficient_credits",
    message:
      `This request may cost up to ${usdText(required)} USD, and ${usdText(available)} USD of the balance is free. ` +
      "Add credit, or ask for less: shorter texts, a lower max_tokens (max_output_tokens), fewer seconds or images."
  }),
  RangeUnsatisfiable: ({ size }) => ({
    ...invalidRequest(416, "range_not_satisfiable", `The video has ${size} bytes. Ask for a range within them.`),
    headers: { "content-range": `bytes */${size}` }
  }),
  VideoNotFound: () => invalidRequest(404, "video_not_found", "There is no such video. GET /v1/videos lists yours."),
  VideoOrderDiffers: () =>
    withoutRetry(
      invalidRequest(
        409,
        "idempotency_mismatch",
        "This Idempotency-Key was used for another video. Send a new key with a new order."
      )
    ),
  VideoOutcomeUnknown: ({ id, hasIdempotencyKey }) => ({
    ...unavailable(
      "service_unavailable",
      "The connection to the database was lost while the video was being ordered, so it may exist. " +
        (hasIdempotencyKey
          ? "Send the order again shortly, with the same Idempotency-Key: that makes only one video."
          : `GET /v1/videos/${videoWireId(id)} shows in a moment whether it does. Order it again only if that answers 404.`)
    ),
    headers: { "x-should-retry": String(hasIdempotencyKey), "retry-after": "5" }
  }),
  VideoNotEnded: () =>
    withoutRetry(
      invalidRequest(409, "video_not_ended", "The video is still being made. Delete it when it is completed or failed.")
    ),
  VideoWithheld: () => ({
    ...upstream.unserved,
    message: "The model's server made this video, but does not return it. Order it again, or from another model."
  }),
  VideoWithoutBytes: ({ status }) =>
    status === "failed"
      ? invalidRequest(404, "video_failed", "The video failed, so there is nothing to download. It cost nothing.")
      : invalidRequest(
          404,
          "video_not_ready",
          `The video is ${status}. Download it when GET /v1/videos/{id} says completed.`
        ),
  RateExceeded: ({ limit, retryAfterSeconds }) => ({
    status: 429,
    type: "rate_limit_error",
    code: "rate_limit_exceeded",
    message: `This key may make ${limit} requests a minute. Try again in ${retryAfterSeconds} s.`,
    headers: { "retry-after": String(retryAfterSeconds) }
  }),
  UpstreamFailed: ({ reason, retryAfterSeconds }) => {
    if (retryAfterSeconds === undefined) return upstream[reason]
    return { ...overloaded(`in ${retryAfterSeconds} s`), headers: { "retry-after": String(retryAfterSeconds) } }
  },
  ServerStopping: () =>
    unavailable(
      "server_stopping",
      "The server is restarting and ended this request early. Send it again, with the same Idempotency-Key if it has one."
    ),
  StoreUnavailable: () =>
    unavailable("service_unavailable", "The database is temporarily unavailable. Send the request again shortly."),
  ClientStalled: () => ({
    status: 504,
    type: "timeout_error",
    code: "client_stalled",
    message: "The client did not read the stream for too long."
  }),
  Unexpected: () => ({
    status: 500,
    type: "api_error",
    code: "internal_error",
    message:
      "The server failed to handle this request. Try again; if the error persists, report the request id to the operator."
  })
}
