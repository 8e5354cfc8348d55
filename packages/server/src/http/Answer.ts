/**
 * From what the domain says to an answer of the infrastructure surface: a value becomes the success body, a failure its
 * line in the table of wire errors. Handlers say what to call, and nothing else.
 */
import type { InfraFailure } from "@sluice/api/infra/InfraFailure"
import { isId } from "@sluice/api/infra/Envelope"
import { wireErrorOf } from "@sluice/api/infra/WireError"
import { Context, Effect } from "effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { infraError } from "./EdgeErrors.ts"
import { RequestId } from "./RequestId.ts"

/** The body that `toBody` makes of the value, or the error as it goes over the wire. */
export const answer = <A, B, E extends InfraFailure, R>(
  effect: Effect.Effect<A, E, R>,
  toBody: (value: A, requestId: string) => B
): Effect.Effect<B | HttpServerResponse.HttpServerResponse, never, R> =>
  Effect.withFiber((fiber) => {
    const requestId = Context.get(fiber.context, RequestId)
    return Effect.match(effect, {
      onFailure: (failure) => infraError(wireErrorOf(failure), requestId),
      onSuccess: (value): B | HttpServerResponse.HttpServerResponse => toBody(value, requestId)
    })
  })

/** `{ data }` of one resource. */
export const dataOf =
  <A, B>(toWire: (value: A) => B) =>
  (value: A) => ({ data: toWire(value) })

/** Runs with an id that can be one; any other text is the id of nothing, as for a row that is not there. */
export const withId = <A, E, R, M>(
  id: string,
  missing: (id: string) => M,
  run: (id: string) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | M, R> => {
  const lower = id.toLowerCase()
  return isId(lower) ? run(lower) : Effect.fail(missing(id))
}
