/**
 * Handles a request for a model's answer, from the socket to the socket; hot routes and the router share it. An
 * `AnswerKind` decodes the bodies and writes the answers of its endpoint. The domain validates and charges; nothing
 * here decides about money.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { parseJson } from "@sluice/domain/models/JsonText"
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrorTable"
import type { ChatRequest } from "@sluice/domain/models/ChatRequest"
import { type Answer, type Emit, Inference } from "@sluice/domain/inference/chat/Inference"
import type { ClientStalled, ModelRequestInvalid } from "@sluice/domain/models/InferenceErrors"
import { flatMapSync } from "@sluice/domain/runtime/SyncFastPath"
import { Cause, Clock, Effect, Result } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { KeyWatch } from "../../access/KeyWatch.ts"
import { bearerOf } from "../../http/Bearer.ts"
import { MAX_INFERENCE_BODY_BYTES } from "../../http/Edge.ts"
import { HotRoutes } from "../../http/HotRoutes.ts"
import { commonHeaders, requestIdOf } from "../../http/RequestId.ts"
import { type Caller, CallerGate, failureOf, json, type Reply } from "../CallerGate.ts"
import { jsonText } from "../InferenceBody.ts"
import { type Routed, toResponse } from "../RoutedRequests.ts"
import { type AnswerWire, SseAnswer } from "./SseAnswer.ts"

interface AnswerInput {
  readonly source: IncomingMessage
  readonly response: ServerResponse
  /** Headers of every response, failures included, unless the response object has them already. */
  readonly headers?: Record<string, string> | undefined
  readonly text: Effect.Effect<string, unknown>
}

/** One form of request and answer; `R` is the endpoint's decoded request. */
export interface AnswerKind<R> {
  /** The path of its hot route. */
  readonly path: string
  readonly decode: (body: unknown) => Result.Result<R, ModelRequestInvalid>
  /** Returns the request to the model. */
  readonly chat: (request: R) => ChatRequest
  /** Returns the body of a buffered answer. */
  readonly whole: (request: R, answer: Answer) => string
  /** Returns the writer of a streamed answer. `createdAt`: the time of the request in Unix seconds. */
  readonly wire: (request: R, createdAt: number) => AnswerWire
  /** Rewrites the refusal of a chat request in the terms of this form. Without it the refusal is unchanged. */
  readonly refusal?: (request: R, refusal: ModelRequestInvalid) => ModelRequestInvalid
}

/** Writes a streamed answer itself and returns undefined; returns any other response. */
type AnswerHandler = (request: AnswerInput) => Effect.Effect<Reply>

/** Adds the hot route of an endpoint, and returns the router's handler, which runs the same function. */
export const makeAnswerEndpoint = <R>(kind: AnswerKind<R>) =>
  Effect.gen(function* () {
    const inference = yield* Inference
    const gate = yield* CallerGate
    const keys = yield* KeyWatch

    const ask = (caller: Caller, request: R, response: ServerResponse, emit?: Emit<ClientStalled>) => {
      const { principal, requestId } = caller
      const answer = inference.chat(principal, requestId, kind.chat(request), emit, () => response.destroyed)
      const { refusal } = kind
      return refusal === undefined
        ? answer
        : Effect.catchTag(answer, "ModelRequestInvalid", (refused) => Effect.fail(refusal(request, refused)))
    }

    const buffered = (caller: Caller, request: R, response: ServerResponse) =>
      Effect.map(ask(caller, request, response), (answer) => json(200, kind.whole(request, answer), caller.headers))

    const streamed = (caller: Caller, request: R, source: IncomingMessage, response: ServerResponse) =>
      Clock.clockWith((clock) => {
        const wire = kind.wire(request, Math.floor(clock.currentTimeMillisUnsafe() / 1000))
        const answer = new SseAnswer(response, wire, caller.headers)
        const answered = Effect.map(ask(caller, request, response, answer.emit), (whole) => answer.complete(whole))
        return Effect.matchCauseEffect(keys.during(bearerOf(source), answered, answer.beat), {
          onSuccess: () => answer.awaitSent(),
          onFailure: (cause) => (answer.isStarted ? failStream(answer, cause, caller) : Effect.failCause(cause))
        }).pipe(
          Effect.as(undefined),
          Effect.onInterrupt(() => Effect.sync(() => answer.stop(caller.requestId)))
        )
      })

    const handler: AnswerHandler = ({ headers, response, source, text }) =>
      gate(source, { headers, scope: "inference:write" }, (caller) =>
        flatMapSync(jsonText(source, text), (body): Effect.Effect<Reply, InferenceFailure> => {
          const request = Result.flatMap(parseJson(body), kind.decode)
          if (Result.isFailure(request)) return Effect.fail(request.failure)
          return kind.chat(request.success).stream
            ? streamed(caller, request.success, source, response)
            : buffered(caller, request.success, response)
        })
      )

    const hotRoutes = yield* HotRoutes
    yield* hotRoutes.add({
      path: kind.path,
      maxBodyBytes: MAX_INFERENCE_BODY_BYTES,
      handler: (source, response, text) =>
        Effect.map(handler({ source, response, headers: commonHeaders(requestIdOf(source)), text }), (reply) =>
          write(response, reply)
        )
    })
    return ({ request }: Routed) =>
      Effect.map(
        handler({
          source: NodeHttpServerRequest.toIncomingMessage(request),
          response: NodeHttpServerRequest.toServerResponse(request),
          text: request.text
        }),
        toResponse
      )
  })

/** Writes an answer of the hot route, which no router writes. */
const write = (response: ServerResponse, reply: Reply): void => {
  if (reply === undefined || response.destroyed) return
  const headers: Record<string, string | number> = { ...reply.headers }
  headers["content-type"] = reply.contentType
  headers["content-length"] = Buffer.byteLength(reply.body)
  response.writeHead(reply.status, headers)
  response.end(reply.body)
}

/** The status has been sent, so the failure is the stream's last event. */
const failStream = (answer: SseAnswer, cause: Cause.Cause<InferenceFailure>, caller: Caller) =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.failCause(cause as Cause.Cause<never>)
    : Effect.flatMap(failureOf(cause, caller.requestId), (failure) => {
        answer.fail(failure, caller.requestId)
        return answer.awaitSent()
      })
