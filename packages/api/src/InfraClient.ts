/**
 * The typed client of the infrastructure surface: every endpoint of the contract, with errors as the classes of
 * `InfraErrors`. It does not stream logs, because their two formats share one status.
 */
import { InfraApi } from "./InfraApi.ts"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as Redacted from "effect/Redacted"

/** `origin`: for example `http://127.0.0.1:8080`, without a path. Requires an `HttpClient`. */
export const infraClient = (options: {
  readonly origin: string
  readonly key: Redacted.Redacted
  readonly environment?: string
}) =>
  HttpApiClient.make(InfraApi, {
    baseUrl: options.origin,
    transformClient: HttpClient.mapRequest((request) => {
      const signed = HttpClientRequest.bearerToken(request, options.key)
      return options.environment === undefined
        ? signed
        : HttpClientRequest.setHeader(signed, "x-environment", options.environment)
    })
  })
