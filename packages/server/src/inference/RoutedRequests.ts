/**
 * Runs a routed request of `/v1`: passes the gate, reads the body as JSON or as a form, and turns the reply into a response. The
 * gate comes first, so that no body is read before the key is known.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrorTable"
import type { Scope } from "@sluice/domain/access/Principal"
import { parseJson } from "@sluice/domain/models/JsonText"
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { type FormBounds, type FormServices, type UploadedForm, readUploadedForm } from "../http/UploadedForm.ts"
import { type Caller, CallerGate, type Reply } from "./CallerGate.ts"
import { jsonText, toFormFailure } from "./InferenceBody.ts"

/** The input of a handler of the contract. */
export interface Routed {
  readonly request: HttpServerRequest
}

type Answered = Effect.Effect<HttpServerResponse.HttpServerResponse>

export class RoutedRequests extends Context.Service<
  RoutedRequests,
  {
    readonly gated: (
      request: HttpServerRequest,
      scope: Scope,
      answerOf: (caller: Caller) => Effect.Effect<Reply, InferenceFailure>
    ) => Answered
    /** `numbers`: how many numbers the body may have in arrays. */
    readonly withJson: (
      request: HttpServerRequest,
      answerOf: (caller: Caller, body: unknown) => Effect.Effect<Reply, InferenceFailure>,
      numbers?: number
    ) => Answered
    /** `file`: the field that errors about the file name. */
    readonly withForm: (
      request: HttpServerRequest,
      bounds: FormBounds & { readonly file: string },
      answerOf: (caller: Caller, form: UploadedForm) => Effect.Effect<Reply, InferenceFailure>
    ) => Answered
  }
>()("@sluice/server/inference/RoutedRequests") {
  static readonly layer = Layer.effect(
    RoutedRequests,
    Effect.gen(function* () {
      const gate = yield* CallerGate
      const disk = yield* Effect.context<FormServices>()
      const gated: RoutedRequests["Service"]["gated"] = (request, scope, answerOf) =>
        Effect.map(gate(NodeHttpServerRequest.toIncomingMessage(request), { scope }, answerOf), toResponse)
      return RoutedRequests.of({
        gated,
        withJson: (request, answerOf, numbers = 0) =>
          gated(request, "inference:write", (caller) =>
            jsonText(NodeHttpServerRequest.toIncomingMessage(request), request.text).pipe(
              Effect.flatMap((text) => Effect.fromResult(parseJson(text, numbers))),
              Effect.flatMap((body) => answerOf(caller, body))
            )
          ),
        withForm: (request, { file, ...bounds }, answerOf) =>
          gated(request, "inference:write", (caller) =>
            Effect.suspend(() => readUploadedForm(NodeHttpServerRequest.toIncomingMessage(request), bounds)).pipe(
              Effect.mapError(toFormFailure(file)),
              Effect.flatMap((form) => answerOf(caller, form)),
              Effect.scoped,
              Effect.provideContext(disk)
            )
          )
      })
    })
  )
}

export const toResponse = (reply: Reply): HttpServerResponse.HttpServerResponse =>
  reply === undefined
    ? HttpServerResponse.empty({ status: 200 })
    : bodyOf(reply.body, { status: reply.status, headers: reply.headers, contentType: reply.contentType })

const bodyOf = (body: string | Uint8Array, options: HttpServerResponse.Options.WithContentType) =>
  typeof body === "string" ? HttpServerResponse.text(body, options) : HttpServerResponse.uint8Array(body, options)
