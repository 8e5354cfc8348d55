/**
 * Failures of the inference surface on the wire, in the form that OpenAI's clients read: one table from the fact to status,
 * type, code and words (interface: Errors, Inference surface; decisions: Error types). An upstream's own text and address
 * are never in it.
 */
import type { KeyInvalid, ScopeMissing } from "@sluice/domain/access/AccessErrors"
import { usdText } from "@sluice/domain/billing/Money"
import type { EnvironmentNotFound } from "@sluice/domain/environments/Environment"
import { type ClientStalled, type FileTooLarge, TOO_LONG } from "@sluice/domain/models/InferenceErrors"
import type { VideoError } from "@sluice/domain/videos/Videos"
import type { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { videoWireId } from "../videos/VideoWire.ts"
import { badGateway, forGood, type InferenceWireError, invalidRequest, unavailable } from "./InferenceWireError.ts"

/** More requests than the key may make in this window. */
export interface RateExceeded {
  readonly _tag: "RateExceeded"
  readonly limit: number
  readonly retryAfterSeconds: number
}

export interface BodyTooLarge {
  readonly _tag: "BodyTooLarge"
  readonly limitBytes: number
}

/** More bodies are coming than there is room for. */
export interface BodyCrowdedOut {
  readonly _tag: "BodyCrowdedOut"
}

/** A failure of our own; its cause is logged, not told. */
export interface Unexpected {
  readonly _tag: "Unexpected"
}

/** The server stops while an answer is still being given. */
export interface ServerStopping {
  readonly _tag: "ServerStopping"
}

/** The database can't be reached, or the request lost against another one in it. */
export interface StoreUnavailable {
  readonly _tag: "StoreUnavailable"
}

export type InferenceFailure =
  | BodyCrowdedOut
  | BodyTooLarge
  | ClientStalled
  | EnvironmentNotFound
  | FileTooLarge
  | KeyInvalid
  | RateExceeded
  | ScopeMissing
  | ServerStopping
  | StoreUnavailable
  | Unexpected
  | VideoError

export const inferenceErrorOf = (failure: InferenceFailure): InferenceWireError =>
  (table[failure._tag] as (failure: InferenceFailure) => InferenceWireError)(failure)

const overloaded = (when: string) =>
  unavailable("model_overloaded", `The model has more requests than it can answer. Try again ${when}.`)

const upstream: Readonly<Record<UpstreamFailed["reason"], InferenceWireError>> = {
  refused: invalidRequest(
    400,
    "upstream_refused",
    "The model's server refused this request: see whether the model knows what it asks for, such as tools, " +
      "response_format or images."
  ),
  too_large: invalidRequest(
    413,
    "upstream_refused",
    "The model's server refused this request because it is too large. Send less at once."
  ),
  too_long: invalidRequest(400, "context_length_exceeded", TOO_LONG),
  unserved: forGood(
    badGateway(
      "upstream_refused",
      "The model's server did not give what was asked for: see whether the model knows it, such as n, size or a format."
    )
  ),
  denied: forGood(
    badGateway(
      "upstream_denied",
      "The model's server refused this service, or does not have what this service asks it for. The operator of this " +
        "service has to see to it; the same request fails until then."
    )
  ),
  forbidden: forGood(
    badGateway(
      "upstream_forbidden",
      "The model's server forbids this request: it may not allow what is asked for. The same request fails again."
    )
  ),
  broken: badGateway(
    "upstream_broken",
    "The model could not be reached, or its answer broke off or made no sense. Try again."
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
      `There is no model '${model.slice(0, 100)}' that answers here. GET /v1/models lists all, and what each does.`,
      "model"
    ),
  BodyTooLarge: ({ limitBytes }) =>
    invalidRequest(413, "payload_too_large", `The body is larger than ${limitBytes} bytes. Send less at once.`),
  BodyCrowdedOut: () =>
    unavailable(
      "server_busy",
      "The server has no room for more at present, and this request had to give way. Send it again shortly."
    ),
  FileTooLarge: ({ limitBytes, param }) =>
    invalidRequest(
      413,
      "file_too_large",
      // What is heard may come in parts, a picture may not.
      `The file is larger than ${limitBytes} bytes. ${param === "file" ? "Send it in parts." : "Send a smaller one."}`,
      param
    ),
  BudgetReached: ({ environmentName }) => ({
    status: 402,
    type: "insufficient_quota",
    code: "BUDGET_REACHED",
    message:
      `The monthly budget of environment ${environmentName} is spent, or what is left is set aside for requests under way. ` +
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
    forGood(
      invalidRequest(
        409,
        "idempotency_mismatch",
        "This Idempotency-Key was used for another video. Send a new key with a new order."
      )
    ),
  VideoOutcomeUnknown: ({ id, hasIdempotencyKey }) => ({
    ...unavailable(
      "service_unavailable",
      "The database was lost while the video was being ordered, so it may exist. " +
        (hasIdempotencyKey
          ? "Send the order again shortly, with the same Idempotency-Key: it makes one video."
          : `GET /v1/videos/${videoWireId(id)} says so in a moment. Order it again only where that finds none.`)
    ),
    headers: { "x-should-retry": String(hasIdempotencyKey), "retry-after": "5" }
  }),
  VideoNotEnded: () =>
    forGood(
      invalidRequest(409, "video_not_ended", "The video is still being made. Delete it when it is completed or failed.")
    ),
  VideoWithheld: () => ({
    ...upstream.unserved,
    message:
      "The model's server made this video, and does not give it out, or not any more. Order it again, or from another model."
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
      "The server is being restarted and ended this request early. Send it again, with its Idempotency-Key if it has one."
    ),
  StoreUnavailable: () =>
    unavailable("service_unavailable", "The database can't serve this at present. Send the request again shortly."),
  ClientStalled: () => ({
    status: 504,
    type: "timeout_error",
    code: "client_stalled",
    message: "The stream was not read for too long."
  }),
  Unexpected: () => ({
    status: 500,
    type: "api_error",
    code: "internal_error",
    message: "Something failed on our side, not in the request. Try again, and name the request id if it persists."
  })
}
