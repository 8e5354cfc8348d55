/**
 * The errors that belong to no endpoint (no such route, wrong method, body too large, a defect), in the body that the
 * surface of the path promises: OpenAI's form under `/v1`, the infrastructure's elsewhere.
 */
import type { ErrorCode } from "@sluice/api/infra/InfraErrors"
import { errorCodes } from "@sluice/api/infra/InfraErrors"
import type { WireError } from "@sluice/api/infra/WireError"
import { errorText } from "@sluice/api/infra/WireError"
import { type InferenceFailure, inferenceErrorOf } from "@sluice/api/inference/InferenceErrors"
import { inferenceErrorText, type InferenceWireError } from "@sluice/api/inference/InferenceWireError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { IncomingMessage, ServerResponse } from "node:http"
import { commonHeaders, requestIdOf } from "./RequestId.ts"

export const isInference = (path: string): boolean =>
  path === "/v1" || path.startsWith("/v1/") || path.startsWith("/v1?")

/** `fact`: what endpoints of inference call the same event. Its words hold under `/v1`, whoever finds it. */
export interface EdgeError extends WireError {
  readonly fact?: InferenceFailure
}

/** OpenAI's `type` for the codes of errors that are the edge's alone. */
const inferenceTypes: { readonly [C in ErrorCode]?: string } = {
  forbidden: "permission_error",
  service_unavailable: "overloaded_error"
}

const inferenceForm = ({ code, fact, ...rest }: EdgeError): InferenceWireError =>
  fact === undefined
    ? { ...rest, status: errorCodes[code], type: inferenceTypes[code] ?? "invalid_request_error", code }
    : inferenceErrorOf(fact)

/** An error as the surface of `path` writes it. */
const written = (path: string, error: EdgeError, requestId: string) => {
  if (!isInference(path)) return { ...error, status: errorCodes[error.code], text: errorText(error, requestId) }
  const form = inferenceForm(error)
  return { ...form, text: inferenceErrorText(form, requestId) }
}

export const edgeError = (path: string, error: EdgeError, requestId: string): HttpServerResponse.HttpServerResponse => {
  const { headers = {}, status, text } = written(path, error, requestId)
  return HttpServerResponse.text(text, { status, contentType: "application/json", headers })
}

/** Of the infrastructure surface. */
export const infraError = (error: WireError, requestId: string): HttpServerResponse.HttpServerResponse =>
  edgeError("", error, requestId)

/** Answers past the router and ends the connection: for a server that does not go on. */
export const endWith = (response: ServerResponse, source: IncomingMessage, error: EdgeError): void => {
  if (response.headersSent || response.destroyed) return
  const requestId = requestIdOf(source)
  const { headers, status, text } = written(source.url ?? "", error, requestId)
  response.writeHead(status, {
    ...commonHeaders(requestId),
    ...headers,
    connection: "close",
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text)
  })
  response.end(text)
}

const AGAIN = { "x-should-retry": "true", "retry-after": "5" }

export const notFound: EdgeError = {
  code: "not_found",
  message: "There is nothing at this path. GET /openapi.json lists every endpoint."
}

export const methodNotAllowed = (methods: ReadonlyArray<string>): EdgeError => ({
  code: "method_not_allowed",
  message: `This path answers to ${methods.join(", ")}.`,
  headers: { allow: methods.join(", ") }
})

export const payloadTooLarge = (limitBytes: number): EdgeError => ({
  code: "payload_too_large",
  message: `The body may have at most ${limitBytes} bytes.`,
  fact: { _tag: "BodyTooLarge", limitBytes }
})

export const evicted: EdgeError = {
  code: "service_unavailable",
  message: "The server has no room for more at present, and this request had to give way. Send it again shortly.",
  headers: AGAIN,
  fact: { _tag: "BodyCrowdedOut" }
}

export const unsupportedMediaType: EdgeError = {
  code: "unsupported_media_type",
  message: "Send the body as JSON, with `Content-Type: application/json`."
}

export const encodedBody: EdgeError = {
  code: "unsupported_media_type",
  message: "Send the body as it is, without `Content-Encoding`."
}

export const foreignHost: EdgeError = {
  code: "forbidden",
  message: "This Host is not one that the server answers to. The operator adds it with --allowed-hosts."
}

export const unmetExpectation: EdgeError = {
  code: "validation_error",
  message: "The only Expect that is met here is 100-continue. Leave the header out."
}

export const internalError: EdgeError = {
  code: "internal_error",
  message: "Something went wrong on our side. The operator finds it in the log under this request's id.",
  fact: { _tag: "Unexpected" }
}

export const storeUnavailable: EdgeError = {
  code: "service_unavailable",
  message: "The database can't serve this at present. Send the request again shortly.",
  headers: AGAIN,
  fact: { _tag: "StoreUnavailable" }
}

/** There is no router yet, or none any more: nothing was begun. */
export const serverAway: EdgeError = {
  code: "service_unavailable",
  message: "The server is being started or stopped. Send the request again shortly.",
  headers: AGAIN
}

export const serverStopping: EdgeError = {
  code: "service_unavailable",
  message:
    "The server is being restarted and ended this request early. Send it again; an Idempotency-Key makes that safe.",
  headers: AGAIN,
  fact: { _tag: "ServerStopping" }
}

/** Of what creates something and has no key by which it would be known again. */
const stoppedUnsure: EdgeError = {
  code: "service_unavailable",
  message:
    "The server is being restarted and ended this request early; what it asked for may have been done. Look before you " +
    "send it again, and send an Idempotency-Key, which makes that safe.",
  headers: { ...AGAIN, "x-should-retry": "false" }
}

/** The drain is over before this request is. What it has begun with the database goes on. */
export const stoppedEarly = ({ headers, method, url = "" }: IncomingMessage): EdgeError =>
  method === "POST" && headers["idempotency-key"] === undefined && (!isInference(url) || url.startsWith("/v1/videos"))
    ? stoppedUnsure
    : serverStopping
