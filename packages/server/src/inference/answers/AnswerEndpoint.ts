/**
 * A question to the engine, from the socket to the socket: the one function behind hot routes and the router's endpoints. An
 * `AnswerKind` says how bodies of its endpoint are read and its answers written; the domain checks and pays, and nothing here
 * decides anything about money.
 */
import { parsedJson } from "@sluice/domain/models/JsonText"
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrors"
import type { ChatRequest } from "@sluice/domain/models/ChatRequest"
import { type Answer, type Emit, Inference } from "@sluice/domain/inference/chat/Inference"
import type { ClientStalled, ModelRequestInvalid } from "@sluice/domain/models/InferenceErrors"
import { flatMapSync, exitIfSettled } from "@sluice/domain/runtime/SyncFastPath"
import { Cause, Clock, Effect, Exit, Result } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { KeyWatch } from "../../access/KeyWatch.ts"
import { bearerOf } from "../../http/Bearer.ts"
import { type Caller, failureOf, json, makeGate, type Reply } from "../CallerGate.ts"
import { unread } from "../InferenceBody.ts"
import { type AnswerWire, SseAnswer } from "./SseAnswer.ts"

export interface Asked {
  readonly source: IncomingMessage
  readonly response: ServerResponse
  /** What the answer has whatever becomes of it, unless the response has it already. */
  readonly headers?: Record<string, string> | undefined
  readonly text: Effect.Effect<string, unknown>
}

/** One form of question and answer; `R` is a question as its endpoint knows it. */
export interface AnswerKind<R> {
  readonly decode: (body: unknown) => Result.Result<R, ModelRequestInvalid>
  /** What the engine is asked. */
  readonly chat: (request: R) => ChatRequest
  /** The body of a buffered answer. */
  readonly whole: (request: R, answer: Answer) => string
  /** A streamed answer. `asked`: when, in Unix seconds. */
  readonly wire: (request: R, asked: number) => AnswerWire
  /** The engine's refusal in the words of this form; left out: they are its own. */
  readonly refusal?: (request: R, refusal: ModelRequestInvalid) => ModelRequestInvalid
}

/** Writes a streamed answer itself; gives the others back. */
export type AnswerHandler = (asked: Asked) => Effect.Effect<Reply>

export const makeAnswerEndpoint = <R>(kind: AnswerKind<R>) =>
  Effect.gen(function* () {
    const inference = yield* Inference
    const guarded = yield* makeGate
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
        const told = Effect.map(ask(caller, request, response, answer.emit), (whole) => answer.complete(whole))
        return Effect.matchCauseEffect(keys.during(bearerOf(source), told, answer.beat), {
          onSuccess: () => answer.sent(),
          onFailure: (cause) => (answer.begun ? brokenOff(answer, cause, caller) : Effect.failCause(cause))
        }).pipe(
          Effect.as(undefined),
          Effect.onInterrupt(() => Effect.sync(() => answer.stop(caller.requestId)))
        )
      })

    const handler: AnswerHandler = ({ headers, response, source, text }) =>
      guarded(source, { headers, scope: "inference:write" }, (caller) =>
        flatMapSync(bodyOf(text), (body): Effect.Effect<Reply, InferenceFailure> => {
          const request = Result.flatMap(parsedJson(body), kind.decode)
          if (Result.isFailure(request)) return Effect.fail(request.failure)
          return kind.chat(request.success).stream
            ? streamed(caller, request.success, source, response)
            : buffered(caller, request.success, response)
        })
      )
    return handler
  })

const bodyOf = (text: Asked["text"]): Effect.Effect<string, InferenceFailure> => {
  const read = exitIfSettled(text)
  return read !== undefined && Exit.isSuccess(read) ? Effect.succeed(read.value) : Effect.mapError(text, unread)
}

/** The status is sent: the failure is the stream's last event. */
const brokenOff = (answer: SseAnswer, cause: Cause.Cause<InferenceFailure>, caller: Caller) =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.failCause(cause as Cause.Cause<never>)
    : Effect.flatMap(failureOf(cause, caller.requestId), (failure) => {
        answer.fail(failure, caller.requestId)
        return answer.sent()
      })
