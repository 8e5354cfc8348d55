/**
 * Calls the infrastructure surface through the contract's typed client. The client's code loads at the first call, so
 * help and mistakes in the arguments do not wait for it.
 */
import type * as InfraClient from "@sluice/api/InfraClient"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { calling } from "./Answers.ts"
import type { Connection } from "./Connection.ts"
import type { Failure } from "./Failure.ts"

type Client = Effect.Success<ReturnType<typeof InfraClient.infraClient>>

/**
 * Runs one call; every refusal becomes a `Failure`. `once` is the Idempotency-Key: a retry with the same key gets the
 * first answer.
 */
export const infra = <A, E>(
  { origin, key, environment }: Connection,
  call: (client: Client) => Effect.Effect<A, E>,
  options: { readonly once?: string } = {}
): Effect.Effect<A, Failure, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const api = yield* Effect.promise(() => import("@sluice/api/InfraClient"))
    const plain = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
    const { once } = options
    const http =
      once === undefined
        ? plain
        : HttpClient.mapRequest(plain, (request) => HttpClientRequest.setHeader(request, "idempotency-key", once))
    const client = yield* api
      .infraClient({ origin, key, ...(environment === undefined ? {} : { environment }) })
      .pipe(Effect.provideService(HttpClient.HttpClient, http))
    return yield* calling(origin, call(client))
  })
