/**
 * `GET /jobs/{id}/logs`: selects the format and the start of the log, and ends the stream. A failed stream never ends
 * normally: the connection is closed instead, so that the reader reconnects and resumes.
 */
import type { KeyInvalid } from "@sluice/domain/access/AccessErrors"
import { CurrentPrincipal } from "@sluice/domain/access/Principal"
import { JobNotFound } from "@sluice/domain/jobs/JobErrors"
import { JobLogs } from "@sluice/domain/jobs/JobLogs"
import { RequestInvalid } from "@sluice/domain/requests/RequestInvalid"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Stream } from "effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { KeyWatch } from "../access/KeyWatch.ts"
import { answer, withId } from "../http/Answer.ts"
import { bearerOf } from "../http/Bearer.ts"
import { dropSlowReader, splitIntoPieces } from "../http/SlowReader.ts"
import { asEvents, asText } from "./JobLogStream.ts"

interface LogRequest {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly params: { readonly id: string }
  readonly query: { readonly offset?: number; readonly tail?: number; readonly follow?: "true" | "false" }
}

/** Makes the handler. */
export const jobLog = Effect.gen(function* () {
  const logs = yield* JobLogs
  const keys = yield* KeyWatch

  const open = Effect.fnUntraced(function* ({ request, params, query }: LogRequest) {
    const principal = yield* CurrentPrincipal
    const isEvents = prefersEvents(request)
    const from = yield* startOf(request, query, isEvents)
    const options = { ...from, follow: query.follow !== "false" }
    const log = yield* withId(
      params.id,
      (id) => new JobNotFound({ id }),
      (id) => logs.events(principal, id, options)
    )
    const bearer = bearerOf(NodeHttpServerRequest.toIncomingMessage(request))
    return yield* respondWithStream(
      request,
      isEvents ? asEvents(log) : asText(log),
      isEvents,
      keys.untilInvalid(bearer)
    )
  })

  return (input: LogRequest) => answer(open(input), (response) => response)
})

/** True where `Accept` names events and does not prefer text. */
const prefersEvents = (request: HttpServerRequest.HttpServerRequest): boolean => {
  const ranges = new Map((request.headers.accept ?? "").split(",").map(qualityOf))
  const eventQuality = ranges.get("text/event-stream") ?? 0
  const textQuality = ranges.get("text/plain") ?? ranges.get("text/*") ?? ranges.get("*/*") ?? 0
  return eventQuality > 0 && eventQuality >= textQuality
}

const qualityOf = (range: string): readonly [type: string, quality: number] => {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase())
  const quality = parameters.find((one) => /^q=[01](\.\d*)?$/.test(one))
  return [type, quality === undefined ? 1 : Number(quality.slice(2))]
}

const startOf = (request: HttpServerRequest.HttpServerRequest, query: LogRequest["query"], isEvents: boolean) => {
  const last = isEvents ? request.headers["last-event-id"] : undefined
  if (last !== undefined && last !== "") {
    return /^\d{1,15}$/.test(last)
      ? Effect.succeed({ offset: Number(last), tail: undefined })
      : invalid("Last-Event-ID", "must be the id of an event of this stream")
  }
  return query.offset !== undefined && query.tail !== undefined
    ? invalid("tail", "must not be sent together with offset")
    : Effect.succeed({ offset: query.offset ?? 0, tail: query.tail })
}

const invalid = (path: string, message: string) => Effect.fail(new RequestInvalid({ issues: [{ path, message }] }))

const respondWithStream = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  bytes: Stream.Stream<Uint8Array>,
  isEvents: boolean,
  keyInvalid: Effect.Effect<never, KeyInvalid>
) {
  const response = NodeHttpServerRequest.toServerResponse(request)
  yield* Effect.forkScoped(dropSlowReader(response))
  yield* Effect.forkScoped(Effect.catchTag(keyInvalid, "KeyInvalid", () => Effect.sync(() => response.destroy())))
  return HttpServerResponse.stream(
    splitIntoPieces(bytes).pipe(
      // A job may write nothing for long: the headers show the reader at once that the request was accepted.
      Stream.onStart(Effect.sync(() => response.flushHeaders())),
      Stream.onError(() => Effect.sync(() => response.destroy()))
    ),
    { contentType: isEvents ? "text/event-stream" : "text/plain; charset=utf-8" }
  )
})
