/**
 * Where the service is and who asks: flags over `SLUICE_*` variables over a server on this machine. The key comes from
 * SLUICE_API_KEY alone: arguments can be read by other users of the machine.
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

/** The variables of the process; read at its entry alone. */
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

/** What every command that talks to a server takes. */
export const connectionFlags = [InfraUrl, BaseUrl, Environment] as const

export interface Connection {
  /** Of the infrastructure surface, without `/api/v1`. */
  readonly origin: string
  /** Of the inference surface, with `/v1`. */
  readonly baseUrl: string
  readonly key: Redacted.Redacted
  readonly environment: string | undefined
  /** Sends the key; an answer of 300 and above is an error. For what the typed client can't do: streams. */
  readonly http: HttpClient.HttpClient
}

/** The connection that flags and variables ask for. Nothing is sent yet. */
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
    // With one of the two addresses given, the other one is on the same server.
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

/** The address that was given, if one was, without its path, which the interface fixes. What is refused is not shown. */
const rootOf = (name: string, url: string | undefined, path: string) => {
  if (url === undefined) return Effect.undefined
  const trimmed = url.replace(/\/+$/, "")
  const parsed = URL.parse(trimmed)
  const refused = (issue: string) => Effect.fail(new UsageWrong({ issues: [`${name} must ${issue}`] }))
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || !trimmed.endsWith(path))
    return refused(`be an http(s) address that ends in ${path}, like ${DEFAULT_ORIGIN}${path}`)
  if (parsed.username !== "" || parsed.password !== "")
    return refused("hold no user name and no password: who asks is told by SLUICE_API_KEY alone")
  return Effect.succeed(trimmed.slice(0, -path.length))
}

/** Where Node was told to ask a proxy in the server's place, which its errors don't name, that is said, too. */
export const withProxy = (failure: Unreachable, variables: Variables["Service"]): Unreachable => {
  const name = failure.url.startsWith("https:") ? "HTTPS_PROXY" : "HTTP_PROXY"
  const isSet = (set(variables[name.toLowerCase()]) ?? set(variables[name])) !== undefined
  if (variables.NODE_USE_ENV_PROXY !== "1" || !isSet) return failure
  const proxy = `NODE_USE_ENV_PROXY has the proxy in ${name} asked, unless NO_PROXY names the server.`
  return new Unreachable({ ...failure, advice: `${failure.advice} ${proxy}` })
}
