/**
 * Parses the server's configuration: flags over `SLUICE_*` variables over defaults, all checked before anything is
 * opened (decisions: Running it). Pure: the caller reads the flags and the environment. A feature that does not exist
 * yet is refused instead of ignored, and no message repeats a secret.
 */
import { isWellFormed } from "@sluice/domain/access/ApiKey"
import type { Redacted } from "effect"
import { Redacted as Redact, Result, Schema } from "effect"
import { isLoopback } from "./http/Hosts.ts"
import { isRedisUrl } from "./limits/RedisAddress.ts"

export interface ServerConfig {
  readonly host: string
  readonly port: number
  /** Directory of the embedded database and of the master key. */
  readonly data: string
  /** PostgreSQL; undefined selects the embedded database in `data`. */
  readonly databaseUrl: Redacted.Redacted | undefined
  /** The Redis that counts rate limits for all replicas; undefined: each replica counts by itself. */
  readonly redisUrl: Redacted.Redacted | undefined
  readonly machines: "simulator"
  /** File of the model catalog; undefined selects the simulated models. */
  readonly models: string | undefined
  /** File of the scenario of the simulated world; undefined selects the default world. */
  readonly scenario: string | undefined
  /** True where callers may send images as http(s) links. */
  readonly hasImageUrls: boolean
  /** True where links of callers may lead to private addresses. */
  readonly hasPrivateTargets: boolean
  readonly seed: number
  /** Factor by which the service's clock runs faster than real time. */
  readonly speed: number
  /** Names that a `Host` header may have in addition to the loopback names. */
  readonly allowedHosts: ReadonlyArray<string>
  readonly bootstrapKey: Redacted.Redacted | undefined
  readonly masterKey: Redacted.Redacted | undefined
  /** The token for `/metrics`; undefined: only requests from this machine may read it. */
  readonly metricsToken: Redacted.Redacted | undefined
}

/**
 * Every setting: the flag `--database-url` is the variable `SLUICE_DATABASE_URL`. Values are texts as given. Secret
 * keys are variables only, because other users of the machine can read flags.
 */
export const settings = [
  "host",
  "port",
  "data",
  "database-url",
  "redis-url",
  "machines",
  "models",
  "seed",
  "scenario",
  "speed",
  "allow-remote",
  "allow-image-urls",
  "allow-private-targets",
  "allowed-hosts",
  "bootstrap-key",
  "master-key",
  "metrics-token"
] as const
export type Setting = (typeof settings)[number]
export type Settings = { readonly [S in Setting]?: string | undefined }

class ConfigInvalid extends Schema.TaggedError<ConfigInvalid>()("ConfigInvalid", {
  issues: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return this.issues.join("\n")
  }
}

const MAX_SPEED = 1_000_000
const SWITCH = /^(true|false|1|0)$/

/** Returns the settings in the variables of a process. */
export const fromVariables = (variables: Readonly<Record<string, string | undefined>>): Settings =>
  Object.fromEntries(
    settings.flatMap((name) => {
      const value = variables[`SLUICE_${name.toUpperCase().replaceAll("-", "_")}`]
      return value === undefined || value === "" ? [] : [[name, value]]
    })
  )

/** Returns the configuration, or every problem of the settings. */
export const parse = (given: Settings): Result.Result<ServerConfig, ConfigInvalid> => {
  const issues: Array<string> = []
  const check = <A>(isValid: boolean, value: A, issue: string): A => {
    if (!isValid) issues.push(issue)
    return value
  }
  const number = (name: Setting, fallback: number, from: number, to: number, isInteger: boolean) => {
    const text = given[name]
    const value = text === undefined ? fallback : text.trim() === "" ? NaN : Number(text)
    const isValid = value >= from && value <= to && (!isInteger || Number.isSafeInteger(value))
    return check(isValid, value, `--${name} must be ${isInteger ? "an integer" : "a number"} from ${from} to ${to}.`)
  }
  const allowed = (name: Setting) => {
    const text = given[name] ?? "false"
    return check(SWITCH.test(text), /^(true|1)$/.test(text), `--${name} must be true or false.`)
  }
  // An address may be written as in a URL, in brackets.
  const host = (given.host ?? "127.0.0.1").replace(/^\[(.+)\]$/, "$1")
  check(host.trim() !== "", undefined, "--host must be an address or a name of this machine.")
  check(
    allowed("allow-remote") || isLoopback(host) || host.trim() === "",
    undefined,
    `--host ${host} accepts connections from other machines. To allow that, add --allow-remote, and --allowed-hosts with the names that they use.`
  )
  const machines = given.machines ?? "simulator"
  check(machines === "simulator", undefined, `--machines ${machines} is not available in this version; use simulator.`)
  const redisUrl = given["redis-url"]
  check(
    redisUrl === undefined || isRedisUrl(redisUrl),
    undefined,
    "--redis-url must be redis://HOST:PORT, or rediss:// for TLS. It may contain user, password and /NUMBER, percent-encoded."
  )
  const bootstrapKey = given["bootstrap-key"]
  check(
    bootstrapKey === undefined || isWellFormed(bootstrapKey),
    undefined,
    "SLUICE_BOOTSTRAP_KEY must be svc_live_ and 16 to 128 letters and digits."
  )
  const hasImageUrls = allowed("allow-image-urls")
  const hasPrivateTargets = allowed("allow-private-targets")
  check(hasImageUrls || !hasPrivateTargets, undefined, "--allow-private-targets needs --allow-image-urls.")
  const metricsToken = given["metrics-token"]
  check(
    metricsToken === undefined || /^[\x21-\x7e]{16,512}$/.test(metricsToken),
    undefined,
    "SLUICE_METRICS_TOKEN must be 16 to 512 printable ASCII characters without spaces."
  )
  const config: ServerConfig = {
    host,
    port: number("port", 8080, 0, 65_535, true),
    data: given.data ?? "./data",
    databaseUrl: redacted(given["database-url"]),
    redisUrl: redacted(redisUrl),
    machines: "simulator",
    models: given.models,
    scenario: given.scenario,
    hasImageUrls,
    hasPrivateTargets,
    seed: number("seed", 1, 0, Number.MAX_SAFE_INTEGER, true),
    speed: number("speed", 1, 1, MAX_SPEED, false),
    allowedHosts: [
      ...(isUnspecified(host) ? [] : [host]),
      ...(given["allowed-hosts"] ?? "")
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "")
    ],
    bootstrapKey: redacted(bootstrapKey),
    masterKey: redacted(given["master-key"]),
    metricsToken: redacted(metricsToken)
  }
  return issues.length === 0 ? Result.succeed(config) : Result.fail(new ConfigInvalid({ issues }))
}

const redacted = (text: string | undefined) => (text === undefined ? undefined : Redact.make(text))
const isUnspecified = (host: string) => host === "0.0.0.0" || host === "::"
