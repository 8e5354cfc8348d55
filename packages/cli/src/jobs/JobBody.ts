/**
 * Builds the body of POST /jobs from the flags of `jobs run`: durations in minutes, variables from flags, files and the
 * caller's environment, and the words of the command as one shell command. The service checks the values.
 */
import type { JobRequestWire } from "@sluice/api/jobs/JobWire"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { parseEnv } from "node:util"
import { Variables } from "../connection/Connection.ts"
import { UsageWrong } from "../connection/Failure.ts"
import { minutesOf } from "./DurationText.ts"
import type { JobFlags } from "./JobFlags.ts"
import { shellCommand } from "./ShellWords.ts"

/**
 * Returns the body without `storage_id`, which needs a call to the service. Fails with all mistakes in the flags at
 * once.
 */
export const jobBody = Effect.fnUntraced(function* (flags: JobFlags) {
  const variables = yield* Variables
  const issues: Array<string> = []
  const take = <A>(flag: string, result: Result.Result<A, string>): A | undefined => {
    if (Result.isSuccess(result)) return result.success
    issues.push(`${flag} ${result.failure}`)
    return undefined
  }
  const timeout = take("--timeout", minutesOf(flags.timeout))
  const wait = Option.isNone(flags.capacityWait)
    ? undefined
    : take("--capacity-wait", minutesOf(flags.capacityWait.value))
  const fromFiles = yield* Effect.forEach(flags.envFile, (path) => envFile(path, issues))
  const env: Record<string, string> = Object.assign({}, ...fromFiles)
  for (const text of flags.env) {
    const pair = take("-e", envPair(text, variables))
    if (pair !== undefined) env[pair[0]] = pair[1]
  }
  const labels: Record<string, string> = {}
  for (const text of flags.label) {
    const pair = take("--label", labelPair(text))
    if (pair !== undefined) labels[pair[0]] = pair[1]
  }
  const command = shellCommand(flags.command)
  if (flags.command.length === 0) issues.push("The command is missing. Give it after --, like: -- nvidia-smi")
  if (issues.length > 0) return yield* new UsageWrong({ issues })
  return {
    command,
    gpu_type: flags.gpu,
    gpu_count: flags.gpus,
    max_runtime_minutes: timeout ?? 0,
    ...given("template", flags.template),
    ...given("image", flags.image),
    ...given("region", flags.region),
    ...given("name", flags.name),
    ...given("description", flags.description),
    ...given("max_cost_usd", flags.maxCost),
    ...(wait === undefined ? {} : { capacity_wait_minutes: wait }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(Object.keys(labels).length === 0 ? {} : { labels })
  } satisfies JobRequestWire
})

const given = <K extends string, A>(key: K, value: Option.Option<A>): { readonly [P in K]?: A } =>
  Option.isNone(value) ? {} : ({ [key]: value.value } as { readonly [P in K]: A })

/**
 * Parses `K=V`; `K` alone takes the value from the caller's environment, which keeps the value out of the argument
 * list.
 */
export const envPair = (
  text: string,
  variables: Readonly<Record<string, string | undefined>>
): Result.Result<readonly [string, string], string> => {
  const at = text.indexOf("=")
  if (at > 0) return Result.succeed([text.slice(0, at), text.slice(at + 1)])
  const own = variables[text]
  // The message does not repeat a text with `=`, which may hold a secret.
  return at === -1 && own !== undefined
    ? Result.succeed([text, own])
    : Result.fail(
        at === 0 ? "must be KEY=VALUE" : `${text}: must be KEY=VALUE, or the name of a variable that is set here`
      )
}

const labelPair = (text: string): Result.Result<readonly [string, string], string> => {
  const at = text.indexOf("=")
  return at > 0 ? Result.succeed([text.slice(0, at), text.slice(at + 1)]) : Result.fail("must be key=value")
}

const envFile = (path: string, issues: Array<string>) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const text = yield* files.readFileString(path)
    for (const line of strayLines(text)) issues.push(`--env-file ${path}: line ${line} must be KEY=VALUE`)
    return parseEnv(text)
  }).pipe(
    Effect.catch(() =>
      Effect.sync(() => {
        issues.push(`--env-file ${path} can't be read`)
        return {}
      })
    )
  )

/**
 * Returns the numbers of lines that are not `K=V` and not comments; the parser would drop them silently. Numbers, not
 * texts: the lines may hold secrets.
 */
export const strayLines = (text: string): ReadonlyArray<number> => {
  const stray: Array<number> = []
  let open: string | undefined
  for (const [at, line] of text.split("\n").entries()) {
    if (open !== undefined) {
      if (line.includes(open)) open = undefined
      continue
    }
    if (/^\s*(#|$)/.test(line)) continue
    const value = /^\s*(?:export\s+)?[\w.-]+\s*=\s*(.*)$/.exec(line)?.[1]
    if (value === undefined) stray.push(at + 1)
    // A quoted value continues until its closing quote.
    else if (/^["'`]/.test(value) && !value.slice(1).includes(value[0]!)) open = value[0]
  }
  return stray
}
