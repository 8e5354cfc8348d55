/**
 * Turns results of the domain into responses of the infrastructure surface: a value becomes the success body, a failure
 * the wire error of its row in the table. Handlers only name the call and the body.
 */
import type { InfraFailure } from "@sluice/api/infra/InfraFailure"
import { isMarked, markOf } from "@sluice/api/infra/Cursor"
import { isId, listOf, pageRequest, shortListOf } from "@sluice/api/infra/Envelope"
import { wireErrorOf } from "@sluice/api/infra/WireError"
import { CurrentPrincipal, type Principal } from "@sluice/domain/access/Principal"
import type { Page, PageRequest } from "@sluice/domain/database/Page"
import { CurrentAttempt, type Attempt } from "@sluice/domain/idempotency/Attempt"
import { RequestInvalid } from "@sluice/domain/requests/RequestInvalid"
import { Context, Effect } from "effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { infraError, unsupportedMediaType } from "./EdgeErrors.ts"
import { jsonBody, type NotJson } from "./JsonBody.ts"
import { RequestId } from "./RequestId.ts"

/** Returns the body that `toBody` makes of the value, or the response of the failure. */
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

/** Returns the response of a failure. */
export const refusal = (failure: InfraFailure | NotJson, requestId: string): HttpServerResponse.HttpServerResponse =>
  infraError(failure._tag === "NotJson" ? unsupportedMediaType : wireErrorOf(failure), requestId)

/** Returns the body `{ data }` of one resource. */
export const dataOf =
  <A, B>(toWire: (value: A) => B) =>
  (value: A) => ({ data: toWire(value) })

/** The body after a deletion. */
export const nothing = () => undefined

/** Runs with an id in valid form. Any other text fails as `missing`, as an unknown id does. */
export const withId = <A, E, R, M>(
  id: string,
  missing: (id: string) => M,
  run: (id: string) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | M, R> => {
  const lower = id.toLowerCase()
  return isId(lower) ? run(lower) : Effect.fail(missing(id))
}

/** Returns a handler that acts on the resource whose id is in the path. */
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

/**
 * Returns a raw handler of a body that the domain checks itself, for the routes whose body has issues that no schema of the
 * contract knows, such as a region without the GPU type. The caller gets all issues at once.
 */
export const submit =
  <A, B, E extends InfraFailure, R>(
    call: (principal: Principal, body: unknown, attempt: Attempt | undefined) => Effect.Effect<A, E, R>,
    toBody: (value: A) => B
  ) =>
  ({ request }: { readonly request: HttpServerRequest.HttpServerRequest }) =>
    Effect.withFiber<B | HttpServerResponse.HttpServerResponse, never, R | CurrentPrincipal>((fiber) => {
      const principal = Context.getUnsafe(fiber.context, CurrentPrincipal)
      const attempt = Context.get(fiber.context, CurrentAttempt)
      return answer<A, B, E | RequestInvalid | NotJson, R>(
        Effect.flatMap(jsonBody(request), (body) => call(principal, body, attempt)),
        toBody
      )
    })

interface Paging {
  readonly limit?: number
  readonly cursor?: string
}

interface ListRequest<Q> {
  readonly query: Q
  readonly endpoint: { readonly path: string }
}

/** Returns a handler that lists one page of the caller's resources. */
export const page =
  <Q extends Paging, A, B, E extends InfraFailure, R>(
    call: (principal: Principal, page: PageRequest, query: Q) => Effect.Effect<Page<A>, E, R>,
    toWire: (item: A) => B
  ) =>
  (request: ListRequest<Q>) =>
    Effect.flatMap(CurrentPrincipal, (principal) => {
      const { query } = request
      const mark = markOfRequest(principal, request)
      return answer(
        Effect.andThen(ownCursor(query, mark), call(principal, pageRequest(query), query)),
        (found, requestId) => listOf(found, toWire, requestId, mark)
      )
    })

/** Returns a handler of a short list, which comes whole if no limit is given. */
export const shortPage =
  <A, B, E extends InfraFailure, R>(items: Effect.Effect<ReadonlyArray<A>, E, R>, toWire: (item: A) => B) =>
  (request: ListRequest<Paging>) =>
    Effect.flatMap(CurrentPrincipal, (principal) => {
      const { query } = request
      const mark = markOfRequest(principal, request)
      return answer(Effect.andThen(ownCursor(query, mark), items), (all, requestId) =>
        shortListOf(all, query, toWire, requestId, mark)
      )
    })

const markOfRequest = ({ environmentId }: Principal, { endpoint, query }: ListRequest<object>): string =>
  markOf(`${endpoint.path} ${environmentId}`, { ...query })

const ownCursor = ({ cursor }: Paging, mark: string): Effect.Effect<void, RequestInvalid> =>
  cursor === undefined || isMarked(cursor, mark)
    ? Effect.void
    : Effect.fail(new RequestInvalid({ issues: [{ path: "cursor", message: OTHER_LIST }] }))

const OTHER_LIST = "is of another list or of other filters; leave it out for the first page"
