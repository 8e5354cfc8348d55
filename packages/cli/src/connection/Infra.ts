/**
 * Calls of the infrastructure surface through the contract's typed client, which is loaded when the first one is made:
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

/** One call; any refusal is a `Failure`. With `once`, the same key again gives the first answer again. */
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
