/**
 * The errors that belong to no endpoint (unknown route, wrong method, body too large, a defect), in the form of the
 * path's surface: OpenAI's under `/v1`, the infrastructure's elsewhere.
 */
import type { ErrorCode } from "@sluice/api/infra/InfraErrors"
import { errorCodes } from "@sluice/api/infra/InfraErrors"
import type { WireError } from "@sluice/api/infra/WireError"
import { errorText } from "@sluice/api/infra/WireError"
import {
  BodyCrowdedOut,
  BodyTooLarge,
  ServerStopping,
  StoreUnavailable,
  Unexpected
} from "@sluice/api/inference/EdgeFailures"
import { type InferenceFailure, inferenceErrorOf } from "@sluice/api/inference/InferenceErrorTable"
import { inferenceErrorText, type InferenceWireError } from "@sluice/api/inference/InferenceWireError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { IncomingMessage, ServerResponse } from "node:http"
import { commonHeaders, requestIdOf } from "./RequestId.ts"

export const isInference = (path: string): boolean =>
  path === "/v1" || path.startsWith("/v1/") || path.startsWith("/v1?")

/** `fact`: the failure by which inference endpoints report the same event. Under `/v1` its words replace `message`. */
export interface EdgeError extends WireError {
  /** Left out: the one of the code. */
  readonly status?: number
  readonly fact?: InferenceFailure
}

/** OpenAI's `type` for the codes of errors that have no `fact`. */
const inferenceTypes: { readonly [C in ErrorCode]?: string } = {
  forbidden: "permission_error",
  service_unavailable: "overloaded_error"
}

const inferenceForm = ({ code, fact, status = errorCodes[code], ...rest }: EdgeError): InferenceWireError =>
  fact === undefined
    ? { ...rest, status, type: inferenceTypes[code] ?? "invalid_request_error", code }
    : inferenceErrorOf(fact)

/** Returns an error in the form of the surface of `path`. */
export const toSurface = (path: string, error: EdgeError, requestId: string) => {
  if (!isInference(path)) {
    return { ...error, requestId, status: error.status ?? errorCodes[error.code], text: errorText(error, requestId) }
  }
  const form = inferenceForm(error)
  return { ...form, requestId, text: inferenceErrorText(form, requestId) }
}

export const edgeError = (path: string, error: EdgeError, requestId: string): HttpServerResponse.HttpServerResponse => {
  const { headers = {}, status, text } = toSurface(path, error, requestId)
  return HttpServerResponse.text(text, { status, contentType: "application/json", headers })
}

/** An error of the infrastructure surface. */
export const infraError = (error: WireError, requestId: string): HttpServerResponse.HttpServerResponse =>
  edgeError("", error, requestId)

/** Writes the response without the router and closes the connection, for a server that is stopping. */
export const endWith = (response: ServerResponse, source: IncomingMessage, error: EdgeError): void => {
  if (response.headersSent || response.destroyed) return
  const requestId = requestIdOf(source)
  const { headers, status, text } = toSurface(source.url ?? "", error, requestId)
  response.writeHead(status, {
    ...commonHeaders(requestId),
    ...headers,
    connection: "close",
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text)
  })
  response.end(text)
}

const RETRY_HEADERS = { "x-should-retry": "true", "retry-after": "5" }

export const notFound: EdgeError = {
  code: "not_found",
  message: "There is nothing at this path. GET /openapi.json lists every endpoint."
}

export const methodNotAllowed = (methods: ReadonlyArray<string>): EdgeError => ({
  code: "method_not_allowed",
  message: `This path supports only ${methods.join(", ")}.`,
  headers: { allow: methods.join(", ") }
})

export const payloadTooLarge = (limitBytes: number): EdgeError => ({
  code: "payload_too_large",
  message: `The body may have at most ${limitBytes} bytes.`,
  fact: new BodyTooLarge({ limitBytes })
})

export const bodyEvicted: EdgeError = {
  code: "service_unavailable",
  message: "The server's space for request bodies is full, and this request was dropped. Send it again shortly.",
  headers: RETRY_HEADERS,
  fact: new BodyCrowdedOut()
}

export const unsupportedMediaType: EdgeError = {
  code: "unsupported_media_type",
  message: "Send the body as JSON, with `Content-Type: application/json`."
}

export const bodyEncoded: EdgeError = {
  code: "unsupported_media_type",
  message: "Send the body uncompressed, without `Content-Encoding`."
}

export const foreignHost: EdgeError = {
  code: "forbidden",
  message: "The server does not answer requests for this Host. The operator can allow it with --allowed-hosts."
}

export const silentBody = (silenceMs: number): EdgeError => ({
  status: 408,
  code: "validation_error",
  message: `No byte of the body came for ${silenceMs / 1_000} s. Send the request again, and its body without such a pause.`
})

export const severalHosts: EdgeError = {
  status: 400,
  code: "validation_error",
  message: "The request has more than one Host field. Send one."
}

export const unmetExpectation: EdgeError = {
  status: 417,
  code: "validation_error",
  message: "The server supports no `Expect` but 100-continue. Leave the header out."
}

export const internalError: EdgeError = {
  code: "internal_error",
  message: "The server failed to handle this request. The operator finds the error in the log under this request's id.",
  fact: new Unexpected()
}

export const storeUnavailable: EdgeError = {
  code: "service_unavailable",
  message: "The database is temporarily unavailable. Send the request again shortly.",
  headers: RETRY_HEADERS,
  fact: new StoreUnavailable()
}

/** The router is not built yet or is gone already, so nothing was started. */
export const serverUnavailable: EdgeError = {
  code: "service_unavailable",
  message: "The server is starting or stopping. Send the request again shortly.",
  headers: RETRY_HEADERS
}

export const serverStopping: EdgeError = {
  code: "service_unavailable",
  message: "The server is restarting and ended this request early. Send it again; an Idempotency-Key makes that safe.",
  headers: RETRY_HEADERS,
  fact: new ServerStopping()
}

/** For a POST that creates something and has no idempotency key by which a retry would be recognized. */
const stoppedOutcomeUnknown: EdgeError = {
  code: "service_unavailable",
  message:
    "The server is restarting and ended this request early. The request may have taken effect: check before you send it " +
    "again. With an Idempotency-Key, sending it again is safe.",
  headers: { ...RETRY_HEADERS, "x-should-retry": "false" }
}

/** The error of a request that the drain interrupted. Statements that it has started in the database go on. */
export const stoppedEarly = ({ headers, method, url = "" }: IncomingMessage): EdgeError =>
  method === "POST" && headers["idempotency-key"] === undefined && (!isInference(url) || url.startsWith("/v1/videos"))
    ? stoppedOutcomeUnknown
    : serverStopping
