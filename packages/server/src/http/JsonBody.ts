/** A JSON body for the handlers that leave its validation to the domain: parsed, and nothing more. */
import { RequestInvalid } from "@sluice/domain/requests/RequestInvalid"
import { Data, Effect } from "effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"

/** The body claims to be something else than JSON. */
export class NotJson extends Data.TaggedError("NotJson")<{}> {}

export const jsonBody = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<unknown, RequestInvalid | NotJson> =>
  isJson(request.headers["content-type"])
    ? Effect.flatMap(Effect.orDie(request.text), parse)
    : Effect.fail(new NotJson())

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
