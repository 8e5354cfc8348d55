/**
 * Turns errors of the HTTP client into a `Failure`: a refusal with the service's error body and request id, a missing
 * connection, or an answer that does not decode. Reads the error bodies of both surfaces.
 */
import { nullable } from "@sluice/api/infra/WireFields"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import { AnswerStrange, type Failure, isFailure, Refused, Unreachable, UsageWrong } from "./Failure.ts"
import { issueText } from "./FailureText.ts"

/** Runs a call; every error of the call becomes a `Failure`. */
export const calling = <A, E, R>(origin: string, call: Effect.Effect<A, E, R>): Effect.Effect<A, Failure, R> =>
  call.pipe(Effect.catch((error) => Effect.flatMap(failureOf(origin, error), (failure) => Effect.fail(failure))))

const failureOf = (origin: string, error: unknown): Effect.Effect<Failure> => {
  if (isFailure(error)) return Effect.succeed(error)
  if (HttpClientError.isHttpClientError(error)) {
    if (error.reason._tag === "StatusCodeError") return refusal(origin, error.reason.response)
    const reason = reasonOf(error.reason.cause ?? error)
    return Effect.succeed(
      error.reason._tag === "TransportError" || error.response !== undefined
        ? new Unreachable({ url: origin, reason, advice: ADVICE })
        : new UsageWrong({ issues: [`${origin} is not a valid server address. Check --infra-url and --base-url.`] })
    )
  }
  if (Schema.isSchemaError(error)) return Effect.succeed(mismatch(origin, error))
  return Effect.succeed(new AnswerStrange({ url: origin, reason: error instanceof Error ? error.message : "unknown" }))
}

const ADVICE = "Is the server running (sluice serve)? --infra-url and --base-url set its address."

const ErrorBody = Schema.Struct({
  error: Schema.Struct({
    code: nullable(Schema.String),
    message: Schema.String,
    details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
  })
})
const decodeBody = Schema.decodeUnknownOption(ErrorBody)

const refusal = (origin: string, response: HttpClientResponse.HttpClientResponse): Effect.Effect<Failure> =>
  Effect.map(Effect.option(response.json), (json) => {
    const body = Option.flatMap(json, decodeBody)
    if (Option.isNone(body)) return new AnswerStrange({ url: origin, reason: `HTTP ${response.status}` })
    return makeRefusal(response.status, body.value.error, response.headers["x-request-id"])
  })

/** Returns the failure of an error body: the body of a response, or the last event of a stream. */
export const makeRefusal = (
  status: number,
  error: (typeof ErrorBody.Type)["error"],
  requestId: string | undefined
): Refused => {
  const { request_id, ...details } = error.details ?? {}
  return new Refused({
    status,
    code: error.code ?? "unknown",
    text: error.message,
    details,
    requestId: requestId ?? (typeof request_id === "string" ? request_id : null)
  })
}

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

/**
 * Returns the failure of a schema mismatch. Issues below `data` or `meta` are in the answer of the service; all others
 * are in the request.
 */
const mismatch = (origin: string, error: Schema.SchemaError): Failure => {
  const issues = formatIssues(error.issue).issues.map(({ path, message }) => ({
    path: (path ?? []).map((key) => String(key)).join("."),
    message
  }))
  const first = issues[0]
  return first === undefined || /^(data|meta)\b/.test(first.path)
    ? new AnswerStrange({ url: origin, reason: first === undefined ? "empty" : `${first.path}: ${first.message}` })
    : new UsageWrong({ issues: issues.map(({ path, message }) => issueText(path, message)) })
}

/** Returns the innermost reason; fetch hides it below "fetch failed". */
const reasonOf = (cause: unknown): string => {
  let reason = "no answer"
  for (let at: unknown = cause, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const inner = at instanceof AggregateError ? at.errors[0] : undefined
    if (inner instanceof Error) reason = inner.message
    else if (at.message !== "") reason = at.message
  }
  // OpenSSL's messages end in a line break.
  return reason.trim()
}
