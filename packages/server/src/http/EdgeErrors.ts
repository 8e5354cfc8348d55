/**
 * The errors that belong to no endpoint (no such route, wrong method, body too large, a defect), in the body that the
 * surface of the path promises: OpenAI's form under `/v1`, the infrastructure's elsewhere.
 */
import type { ErrorCode } from "@sluice/api/infra/InfraErrors"
import { errorCodes } from "@sluice/api/infra/InfraErrors"
import type { WireError } from "@sluice/api/infra/WireError"
import { errorText } from "@sluice/api/infra/WireError"
import { inferenceErrorText } from "@sluice/api/inference/InferenceWireError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

export const isInference = (path: string): boolean =>
  path === "/v1" || path.startsWith("/v1/") || path.startsWith("/v1?")

/** OpenAI's `type` for the codes that the edge answers with. */
const inferenceTypes: { readonly [C in ErrorCode]?: string } = {
  forbidden: "permission_error",
  internal_error: "api_error",
  service_unavailable: "overloaded_error"
}

const inferenceForm = ({ code }: WireError) => ({
  status: errorCodes[code],
  type: inferenceTypes[code] ?? "invalid_request_error",
  code
})

/** An error as the surface of `path` writes it. */
export const edgeError = (path: string, error: WireError, requestId: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(edgeErrorText(path, error, requestId), options(error))

/** The text of the same. */
export const edgeErrorText = (path: string, error: WireError, requestId: string): string =>
  isInference(path)
    ? inferenceErrorText({ ...inferenceForm(error), message: error.message }, requestId)
    : errorText(error, requestId)

export const infraError = (error: WireError, requestId: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(errorText(error, requestId), options(error))

const options = (error: WireError) => ({
  status: errorCodes[error.code],
  contentType: "application/json",
  ...(error.headers === undefined ? {} : { headers: error.headers })
})

export const notFound: WireError = {
  code: "not_found",
  message: "There is nothing at this path. GET /openapi.json lists every endpoint."
}

export const methodNotAllowed = (methods: ReadonlyArray<string>): WireError => ({
  code: "method_not_allowed",
  message: `This path answers to ${methods.join(", ")}.`,
  headers: { allow: methods.join(", ") }
})

export const payloadTooLarge = (limit: number): WireError => ({
  code: "payload_too_large",
  message: `The body may have at most ${limit} bytes.`
})

export const crowdedOut: WireError = {
  code: "service_unavailable",
  message: "The server has no room for more at present, and this request had to give way. Send it again shortly.",
  headers: { "x-should-retry": "true", "retry-after": "5" }
}

export const unsupportedMediaType: WireError = {
  code: "unsupported_media_type",
  message: "Send the body as JSON, with `Content-Type: application/json`."
}

export const encodedBody: WireError = {
  code: "unsupported_media_type",
  message: "Send the body as it is, without `Content-Encoding`."
}

export const foreignHost: WireError = {
  code: "forbidden",
  message: "This Host is not one that the server answers to. The operator adds it with --allowed-hosts."
}

export const unmetExpectation: WireError = {
  code: "validation_error",
  message: "The only Expect that is met here is 100-continue. Leave the header out."
}

export const internalError: WireError = {
  code: "internal_error",
  message: "Something went wrong on our side. The operator finds it in the log under this request's id."
}

export const storeUnavailable: WireError = {
  code: "service_unavailable",
  message: "The database can't serve this at present. Send the request again shortly.",
  headers: { "x-should-retry": "true", "retry-after": "5" }
}

export const serverStopping: WireError = {
  code: "service_unavailable",
  message:
    "The server is being restarted and ended this request early. Send it again; an Idempotency-Key makes that safe.",
  headers: { "x-should-retry": "true", "retry-after": "5" }
}
