/**
 * POST /chat/completions, from the socket to the socket: the one function behind the hot route and the router's endpoint.
 * The domain checks the body, and nothing here decides anything about money.
 */
import { completionText } from "@sluice/api/inference/ChatWire"
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrors"
import { type ChatRequest, decodeChat } from "@sluice/domain/inference/Chat"
import { Inference } from "@sluice/domain/inference/Inference"
import { Cause, Effect, Result } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { type Caller, failureOf, json, makeGate, type Reply } from "./CallerGate.ts"
import { parseJson, unread } from "./InferenceBody.ts"
import { SseAnswer } from "./SseAnswer.ts"

export interface Asked {
  readonly source: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** What the answer has whatever becomes of it. */
  readonly headers: Record<string, string>
  readonly text: Effect.Effect<string, unknown>
}

export const makeChat = Effect.gen(function* () {
  const inference = yield* Inference
  const guarded = yield* makeGate

  const buffered = (caller: Caller, request: ChatRequest) =>
    Effect.map(inference.chat(caller.principal, caller.requestId, request), (answer) =>
      json(200, completionText(answer), caller.headers)
    )

  const streamed = (caller: Caller, request: ChatRequest, response: ServerResponse) =>
    Effect.suspend(() => {
      const answer = new SseAnswer(response, caller.headers)
      const told = Effect.map(inference.chat(caller.principal, caller.requestId, request, answer.emit), (whole) =>
        answer.complete(whole, request.includeUsage)
      )
      return Effect.matchCauseEffect(Effect.raceFirst(told, answer.heartbeat()), {
        onSuccess: () => answer.sent(),
        onFailure: (cause) => (answer.begun ? brokenOff(answer, cause, caller) : Effect.failCause(cause))
      }).pipe(
        Effect.as(undefined),
        Effect.onInterrupt(() => Effect.sync(() => answer.stop(caller.requestId)))
      )
    })

  return ({ headers, requestId, response, source, text }: Asked): Effect.Effect<Reply> =>
    guarded(source, { requestId, headers, scope: "inference:write" }, (caller) =>
      Effect.flatMap(Effect.mapError(text, unread), (body): Effect.Effect<Reply, InferenceFailure> => {
        const chat = Result.flatMap(parseJson(body), decodeChat)
        if (Result.isFailure(chat)) return Effect.fail(chat.failure)
        return chat.success.stream ? streamed(caller, chat.success, response) : buffered(caller, chat.success)
      })
    )
})

/** The status is sent: the failure is the stream's last event. */
const brokenOff = (answer: SseAnswer, cause: Cause.Cause<InferenceFailure>, caller: Caller) =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.failCause(cause as Cause.Cause<never>)
    : Effect.flatMap(failureOf(cause, caller.requestId), (failure) => {
        answer.fail(failure, caller.requestId)
        return answer.sent()
      })
