/**
 * The endpoints of the inference surface over the domain's `Inference`. Raw requests in, ready text out: the contract shows
 * the shapes, the domain checks the body, and nothing here decides anything about money.
 */
import { InferenceApi } from "@sluice/api/inference/InferenceApi"
import { completionText } from "@sluice/api/inference/ChatWire"
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrors"
import { modelToWire } from "@sluice/api/inference/ModelWire"
import { type ChatRequest, decodeChat } from "@sluice/domain/inference/Chat"
import { Inference } from "@sluice/domain/inference/Inference"
import { ChatInvalid } from "@sluice/domain/inference/InferenceErrors"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Cause, Effect, Result } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { BodyTooLarge } from "../http/BoundedBody.ts"
import { type Caller, failureOf, json, makeGate } from "./CallerGate.ts"
import { SseAnswer } from "./SseAnswer.ts"

/** Handlers of the group `inference`. */
export const InferenceHandlers = HttpApiBuilder.group(
  InferenceApi,
  "inference",
  Effect.fnUntraced(function* (handlers) {
    const inference = yield* Inference
    const guarded = yield* makeGate
    const list = JSON.stringify({ object: "list", data: inference.models.map(modelToWire) })

    const buffered = (caller: Caller, request: ChatRequest) =>
      Effect.map(inference.chat(caller.principal, caller.requestId, request), (answer) =>
        json(200, completionText(answer), caller.headers)
      )

    const streamed = (caller: Caller, request: ChatRequest, http: HttpServerRequest) =>
      Effect.suspend(() => {
        const answer = new SseAnswer(NodeHttpServerRequest.toServerResponse(http), caller.headers)
        const told = Effect.map(inference.chat(caller.principal, caller.requestId, request, answer.emit), (whole) =>
          answer.complete(whole, request.includeUsage)
        )
        return Effect.matchCauseEffect(Effect.raceFirst(told, answer.heartbeat()), {
          onSuccess: () => Effect.as(answer.sent(), HttpServerResponse.empty({ status: 200 })),
          onFailure: (cause) => (answer.begun ? brokenOff(answer, cause, caller) : Effect.failCause(cause))
        }).pipe(Effect.onInterrupt(() => Effect.sync(() => answer.stop(caller.requestId))))
      })

    return handlers
      .handleRaw("chatCompletions", ({ request }) =>
        guarded(request, "inference:write", (caller) =>
          Effect.flatMap(bodyOf(request), (text) => {
            const chat = parse(text)
            if (Result.isFailure(chat)) return Effect.fail(chat.failure)
            return chat.success.stream ? streamed(caller, chat.success, request) : buffered(caller, chat.success)
          })
        )
      )
      .handleRaw("listModels", ({ request }) =>
        guarded(request, "inference:read", ({ headers }) => Effect.succeed(json(200, list, headers)))
      )
      .handleRaw("getModel", ({ request, params }) =>
        guarded(request, "inference:read", ({ headers }) =>
          Effect.map(inference.model(params.id), (model) => json(200, JSON.stringify(modelToWire(model)), headers))
        )
      )
  })
)

/** The edge bounds and decodes what `request.text` gives. */
const bodyOf = (request: HttpServerRequest): Effect.Effect<string, InferenceFailure> =>
  Effect.mapError(request.text, (error: unknown) =>
    error instanceof BodyTooLarge ? { _tag: "BodyTooLarge", limitBytes: error.limit } : notJson()
  )

const notJson = () => new ChatInvalid({ message: "The body must be JSON in UTF-8.", param: null, code: "invalid_json" })

const parse = (text: string): Result.Result<ChatRequest, ChatInvalid> => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return Result.fail(notJson())
  }
  return decodeChat(body)
}

/** The status is sent: the failure is the stream's last event. */
const brokenOff = (answer: SseAnswer, cause: Cause.Cause<InferenceFailure>, caller: Caller) =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.failCause(cause)
    : Effect.flatMap(failureOf(cause, caller.requestId), (failure) => {
        answer.fail(failure, caller.requestId)
        return Effect.as(answer.sent(), HttpServerResponse.empty({ status: 200 }))
      })
