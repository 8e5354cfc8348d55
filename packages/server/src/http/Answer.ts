/**
 * From what the domain says to an answer of the infrastructure surface: a value becomes the success body, a failure its
 * line in the table of wire errors. Handlers say what to call, and nothing else.
 */
import type { InfraFailure } from "@sluice/api/infra/InfraFailure"
import { isId, listOf, pageRequest } from "@sluice/api/infra/Envelope"
import { wireErrorOf } from "@sluice/api/infra/WireError"
import { CurrentPrincipal, type Principal } from "@sluice/domain/access/Principal"
import type { Page, PageRequest } from "@sluice/domain/database/Page"
import { Context, Effect } from "effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { infraError, unsupportedMediaType } from "./EdgeErrors.ts"
import type { NotJson } from "./JsonBody.ts"
import { RequestId } from "./RequestId.ts"

/** The body that `toBody` makes of the value, or the error as it goes over the wire. */
export const answer = <A, B, E extends InfraFailure | NotJson, R>(
  effect: Effect.Effect<A, E, R>,
  toBody: (value: A, requestId: string) => B
): Effect.Effect<B | HttpServerResponse.HttpServerResponse, never, R> =>
  Effect.withFiber((fiber) => {
    const requestId = Context.get(fiber.context, RequestId)
    return Effect.match(effect, {
      onFailure: (failure) => refusal(failure, requestId),
      onSuccess: (value): B | HttpServerResponse.HttpServerResponse => toBody(value, requestId)
    })
  })

/** A failure as it goes over the wire. */
export const refusal = (failure: InfraFailure | NotJson, requestId: string): HttpServerResponse.HttpServerResponse =>
  infraError(failure._tag === "NotJson" ? unsupportedMediaType : wireErrorOf(failure), requestId)

/** `{ data }` of one resource. */
export const dataOf =
  <A, B>(toWire: (value: A) => B) =>
  (value: A) => ({ data: toWire(value) })

/** The body of what is gone. */
export const nothing = () => undefined

/** Runs with an id that can be one; any other text is the id of nothing, as for a row that is not there. */
export const withId = <A, E, R, M>(
  id: string,
  missing: (id: string) => M,
  run: (id: string) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | M, R> => {
  const lower = id.toLowerCase()
  return isId(lower) ? run(lower) : Effect.fail(missing(id))
}

/** The handler that does something with the one resource of its path. */
export const one =
  <Q extends { readonly params: { readonly id: string } }, A, B, E extends InfraFailure, M extends InfraFailure, R>(
    missing: (id: string) => M,
    call: (principal: Principal, id: string, request: Q) => Effect.Effect<A, E, R>,
    toBody: (value: A) => B
  ) =>
  (request: Q) =>
    Effect.flatMap(CurrentPrincipal, (principal) =>
      answer<A, B, E | M, R>(
        withId(request.params.id, missing, (id) => call(principal, id, request)),
        toBody
      )
    )

/** The handler that lists a page of the caller's resources. */
export const page =
  <Q extends { readonly limit?: number; readonly cursor?: string }, A, B, E extends InfraFailure, R>(
    call: (principal: Principal, page: PageRequest, query: Q) => Effect.Effect<Page<A>, E, R>,
    toWire: (item: A) => B
  ) =>
  ({ query }: { readonly query: Q }) =>
    Effect.flatMap(CurrentPrincipal, (principal) =>
      answer(call(principal, pageRequest(query), query), (found, requestId) => listOf(found, toWire, requestId))
    )
