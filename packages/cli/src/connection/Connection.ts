/**
 * Reads the service's addresses, the API key and the environment: flags override `SLUICE_*` variables, which override
 * the default, a server on this machine. The key comes from SLUICE_API_KEY alone, because other users of the machine
 * can read command arguments.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { KeyMalformed, KeyMissing, Unreachable, UsageWrong } from "./Failure.ts"

/** The environment variables of the process; only the entry point reads `process.env`. */
export class Variables extends Context.Service<Variables, Readonly<Record<string, string | undefined>>>()(
  "@sluice/cli/connection/Variables"
) {}

const text = (name: string, description: string) =>
  GlobalFlag.Setting(name)({
    flag: Flag.String(name).pipe(
      Flag.optional,
      Flag.withMetavar(name === "environment" ? "ID|NAME" : "URL"),
      Flag.withDescription(description)
    )
  })

const InfraUrl = text("infra-url", "Infrastructure address, ends in /api/v1 (SLUICE_INFRA_URL)")
const BaseUrl = text("base-url", "Inference address, ends in /v1 (SLUICE_BASE_URL)")
const Environment = text("environment", "Environment, by id or name (SLUICE_ENVIRONMENT)")

/** The flags of every command that calls a server. */
export const connectionFlags = [InfraUrl, BaseUrl, Environment] as const

export interface Connection {
  /** Origin of the infrastructure surface, without `/api/v1`. */
  readonly origin: string
  /** Base URL of the inference surface, with `/v1`. */
  readonly baseUrl: string
  readonly key: Redacted.Redacted
  readonly environment: string | undefined
  /**
   * Sends the key, and fails on every status outside 2xx. For requests that the typed client does not support: streams.
   */
  readonly http: HttpClient.HttpClient
}

/**
 * Returns the connection that flags and variables describe; sends no request. Fails if an address, the key or the
 * environment is not valid.
 */
export const connection = Effect.gen(function* () {
  const variables = yield* Variables
  const pick = (flag: Option.Option<string>, name: string) => Option.getOrUndefined(flag) ?? set(variables[name])
  const infra = pick(yield* InfraUrl, "SLUICE_INFRA_URL")
  const base = pick(yield* BaseUrl, "SLUICE_BASE_URL")
  const infraRoot = yield* rootOf("SLUICE_INFRA_URL (--infra-url)", infra, "/api/v1")
  const baseRoot = yield* rootOf("SLUICE_BASE_URL (--base-url)", base, "/v1")
  const key = set(variables.SLUICE_API_KEY)
  if (key === undefined) return yield* new KeyMissing()
  if (!/^[!-~]+$/.test(key)) return yield* new KeyMalformed()
  const environment = pick(yield* Environment, "SLUICE_ENVIRONMENT")
  if (environment !== undefined && !/^[ -~]+$/.test(environment)) {
    return yield* new UsageWrong({
      issues: [
        "SLUICE_ENVIRONMENT (--environment) must be visible ASCII; give the environment's id instead of its name"
      ]
    })
  }
  const signed = HttpClientRequest.bearerToken(Redacted.make(key))
  const http = (yield* HttpClient.HttpClient).pipe(
    HttpClient.mapRequest((request) =>
      environment === undefined
        ? signed(request)
        : HttpClientRequest.setHeader(signed(request), "x-environment", environment)
    ),
    HttpClient.filterStatusOk
  )
  const connected: Connection = {
    // If only one of the two addresses is given, the other surface is on the same server.
    origin: infraRoot ?? baseRoot ?? DEFAULT_ORIGIN,
    baseUrl: `${baseRoot ?? infraRoot ?? DEFAULT_ORIGIN}/v1`,
    key: Redacted.make(key),
    environment,
    http
  }
  return connected
})

const DEFAULT_ORIGIN = "http://127.0.0.1:8080"

const set = (value: string | undefined) => (value === undefined || value.trim() === "" ? undefined : value.trim())

/**
 * Returns the address without its path, which the interface fixes; undefined if none is given. The error does not
 * repeat a refused address, which may hold a password.
 */
const rootOf = (name: string, url: string | undefined, path: string) => {
  if (url === undefined) return Effect.undefined
  const trimmed = url.replace(/\/+$/, "")
  const parsed = URL.parse(trimmed)
  const refuse = (rule: string) => Effect.fail(new UsageWrong({ issues: [`${name} must ${rule}`] }))
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || !trimmed.endsWith(path))
    return refuse(`be an http(s) address that ends in ${path}, like ${DEFAULT_ORIGIN}${path}`)
  if (parsed.username !== "" || parsed.password !== "")
    return refuse("hold no user name and no password: SLUICE_API_KEY alone holds the credentials")
  return Effect.succeed(trimmed.slice(0, -path.length))
}

/** Adds a hint at the HTTP proxy if Node sends requests through one: its errors name the server, not the proxy. */
export const withProxy = (failure: Unreachable, variables: Variables["Service"]): Unreachable => {
  const name = failure.url.startsWith("https:") ? "HTTPS_PROXY" : "HTTP_PROXY"
  const isSet = (set(variables[name.toLowerCase()]) ?? set(variables[name])) !== undefined
  if (variables.NODE_USE_ENV_PROXY !== "1" || !isSet) return failure
  const proxy = `NODE_USE_ENV_PROXY sends requests through the proxy in ${name}; name the server in NO_PROXY to bypass it.`
  return new Unreachable({ ...failure, advice: `${failure.advice} ${proxy}` })
}
