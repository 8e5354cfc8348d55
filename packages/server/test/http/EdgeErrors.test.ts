/** Errors of the HTTP edge: each has one form on a surface; under `/v1` it is the form of the inference endpoints. */
import { inferenceErrorOf } from "@sluice/api/inference/InferenceErrorTable"
import * as EdgeErrors from "@sluice/server/http/EdgeErrors"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { expect, it } from "vitest"

const told = async (path: string, error: EdgeErrors.EdgeError) => {
  const { headers, status } = EdgeErrors.edgeError(path, error, "r")
  const response = HttpServerResponse.toWeb(EdgeErrors.edgeError(path, error, "r"))
  return { status, again: headers["retry-after"], error: ((await response.json()) as { readonly error: object }).error }
}

it.each([
  ["serverStopping", EdgeErrors.serverStopping, 503, "overloaded_error", "server_stopping", "service_unavailable"],
  [
    "serverUnavailable",
    EdgeErrors.serverUnavailable,
    503,
    "overloaded_error",
    "service_unavailable",
    "service_unavailable"
  ],
  [
    "storeUnavailable",
    EdgeErrors.storeUnavailable,
    503,
    "overloaded_error",
    "service_unavailable",
    "service_unavailable"
  ],
  ["bodyEvicted", EdgeErrors.bodyEvicted, 503, "overloaded_error", "server_busy", "service_unavailable"],
  ["internalError", EdgeErrors.internalError, 500, "api_error", "internal_error", "internal_error"],
  [
    "payloadTooLarge",
    EdgeErrors.payloadTooLarge(9),
    413,
    "invalid_request_error",
    "payload_too_large",
    "payload_too_large"
  ],
  ["foreignHost", EdgeErrors.foreignHost, 403, "permission_error", "forbidden", "forbidden"],
  ["notFound", EdgeErrors.notFound, 404, "invalid_request_error", "not_found", "not_found"]
] as const)("%s", async (_, error: EdgeErrors.EdgeError, status, type, code, infraCode) => {
  const again = status === 503 ? "5" : undefined
  const message = error.fact === undefined ? error.message : inferenceErrorOf(error.fact).message
  expect(await told("/v1/embeddings", error)).toEqual({
    status,
    again,
    error: { message, type, code, param: null, request_id: "r" }
  })
  expect(await told("/api/v1/jobs", error)).toEqual({
    status,
    again,
    error: { code: infraCode, message: error.message, details: { request_id: "r" } }
  })
})
