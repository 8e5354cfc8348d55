/** Parses a JSON body for handlers whose validation is in the domain. */
import { pathText } from "@sluice/domain/requests/BodyIssues"
import { RequestInvalid } from "@sluice/domain/requests/RequestInvalid"
import { Effect, Schema } from "effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"

/** The `Content-Type` is not JSON. */
export class NotJson extends Schema.TaggedError<NotJson>()("NotJson", {}) {}

export const jsonBody = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<unknown, RequestInvalid | NotJson> =>
  isJson(request.headers["content-type"])
    ? Effect.flatMap(Effect.orDie(request.text), parse)
    : Effect.fail(new NotJson())

/** Accepts an empty body, and an object without fields, which many clients send in place of no body. */
export const noBody = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void, RequestInvalid | NotJson> =>
  Effect.flatMap(Effect.orDie(request.text), (text) =>
    text === "" ? Effect.void : Effect.flatMap(jsonBody(request), requireNoFields)
  )

const requireNoFields = (body: unknown): Effect.Effect<void, RequestInvalid> => {
  const issues =
    typeof body !== "object" || body === null || Array.isArray(body)
      ? [{ path: "", message: "must be a JSON object" }]
      : Object.keys(body).map((name) => ({ path: pathText([name]), message: "is not a field of this request" }))
  return issues.length === 0 ? Effect.void : Effect.fail(new RequestInvalid({ issues }))
}

const isJson = (contentType: string | undefined): boolean =>
  contentType === undefined || /^application\/json *(;|$)/i.test(contentType)

const parse = (text: string): Effect.Effect<unknown, RequestInvalid> => {
  try {
    return Effect.succeed(JSON.parse(text))
  } catch {
    return Effect.fail(
      new RequestInvalid({ issues: [{ path: "", message: "must be a JSON object (this is not valid JSON)" }] })
    )
  }
}
