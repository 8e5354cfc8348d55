/**
 * Answers invalid input of the infrastructure surface with 422 and all issues at once, after every check of
 * `Authorization`. It also checks the body of a POST whose contract has none: an ignored body may have been meant to
 * change something.
 */
import { WellFormed } from "@sluice/api/access/InfraAccess"
import { invalid } from "@sluice/api/infra/WireError"
import { listIssues } from "@sluice/domain/requests/BodyIssues"
import { Context, Effect, Layer, type Types } from "effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpApiError from "effect/http-api/HttpApiError"
import { refusal } from "./Answer.ts"
import { infraError } from "./EdgeErrors.ts"
import { noBody } from "./JsonBody.ts"
import { RequestId } from "./RequestId.ts"

export const wellFormed = Layer.succeed(WellFormed, (httpEffect, { endpoint }) => {
  const isBodiless = endpoint.method === "POST" && endpoint.payload.size === 0
  return Effect.withFiber((fiber) => {
    const requestId = Context.get(fiber.context, RequestId)
    const checked = Effect.catchIf(httpEffect, isInputError, (error) =>
      Effect.succeed(infraError(invalid(issuesOf(error)), requestId))
    )
    if (!isBodiless) return checked
    return Effect.matchEffect(noBody(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)), {
      onFailure: (failure) => Effect.succeed(refusal(failure, requestId)),
      onSuccess: () => checked
    })
  })
})

/** A response that does not fit the contract is a defect of the server, never the caller's 422. */
const isInputError = (error: Types.unhandled): error is Types.unhandled & HttpApiError.HttpApiSchemaError =>
  HttpApiError.HttpApiSchemaError.is(error) && error.kind !== "Body" && error.kind !== "ResponseHeaders"

const issuesOf = (error: HttpApiError.HttpApiSchemaError) =>
  listIssues(error.cause.issue, error.kind === "Query" ? "query parameter of this endpoint" : "field of this request")
