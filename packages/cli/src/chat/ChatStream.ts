/**
 * Streams one chat answer and decodes its events. `data: [DONE]` ends the answer; an error event, a lost connection or
 * a stream without `[DONE]` fails it, so a partial answer never counts as complete.
 */
import { ChatChunkWire } from "@sluice/api/inference/chat/ChatWire"
import { nullable } from "@sluice/api/infra/WireFields"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Sse from "effect/encoding/Sse"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { calling, makeRefusal } from "../connection/Answers.ts"
import type { Connection } from "../connection/Connection.ts"
import type { Failure } from "../connection/Failure.ts"
import { Unreachable } from "../connection/Failure.ts"

export interface ChatPayload {
  readonly model: string
  readonly messages: ReadonlyArray<{ readonly role: "system" | "user"; readonly content: string }>
  readonly max_tokens?: number
  readonly temperature?: number
}

export type Chunk = typeof ChatChunkWire.Type

/** Runs `onChunk` for each chunk in order; the last chunk carries the usage. Never retries: each answer costs money. */
export const chatStream = Effect.fnUntraced(function* <E, R>(
  connection: Connection,
  body: ChatPayload,
  onChunk: (chunk: Chunk) => Effect.Effect<void, E, R>
) {
  const url = connection.baseUrl
  const post = HttpClientRequest.post(`${url}/chat/completions`).pipe(
    HttpClientRequest.bodyJsonUnsafe({ ...body, stream: true, stream_options: { include_usage: true } })
  )
  const response = yield* calling(url, connection.http.execute(post))
  const requestId = response.headers["x-request-id"]
  let done = false
  const onData = (data: string): Effect.Effect<void, E | Failure | Schema.SchemaError, R> =>
    data === "[DONE]"
      ? Effect.sync(() => {
          done = true
        })
      : Effect.flatMap(decode(data), (event): Effect.Effect<void, E | Failure, R> =>
          "error" in event ? Effect.fail(failureOfEvent(event, requestId)) : onChunk(event)
        )
  yield* calling(
    url,
    response.stream.pipe(
      Stream.decodeText(),
      Stream.pipeThroughChannelOrFail(Sse.decode()),
      Stream.runForEach((event) => onData(event.data))
    )
  )
  if (!done)
    return yield* new Unreachable({
      url,
      reason: "the answer stopped before its end",
      advice: "Send the prompt again."
    })
})

const ErrorEvent = Schema.Struct({
  error: Schema.Struct({ message: Schema.String, type: Schema.String, code: nullable(Schema.String) })
})
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Union([ErrorEvent, ChatChunkWire])))

/** The HTTP statuses of the error types, because an error event comes after the response's own status. */
const statuses: { readonly [type: string]: number } = {
  invalid_request_error: 400,
  rate_limit_error: 429,
  upstream_error: 502,
  overloaded_error: 503,
  timeout_error: 504
}

const failureOfEvent = ({ error }: typeof ErrorEvent.Type, requestId: string | undefined): Failure =>
  makeRefusal(statuses[error.type] ?? 500, error, requestId)
