/**
 * Renders a failure for standard error: as text with advice, or as `{"error":{...}}`. Never shows an API key or a
 * stack.
 */
import { oneLine } from "../terminal/Table.ts"
import type { Failure } from "./Failure.ts"

/** Returns the `error` object of the JSON form. */
export const failureJson = (failure: Exclude<Failure, { readonly _tag: "Ended" }>) => {
  if (failure._tag !== "Refused") return { code: codes[failure._tag], message: failure.message }
  const { status, code, text, details, requestId } = failure
  return { code, message: text, status, request_id: requestId, ...(Object.keys(details).length > 0 ? { details } : {}) }
}

export const failureText = (failure: Exclude<Failure, { readonly _tag: "Ended" }>): string => {
  const issues = failure._tag === "Refused" ? issuesOf(failure.details) : []
  const lines = issues.length > 0 ? issues : nameCommands(failure.message).split("\n")
  const [first = "failed", ...rest] = lines.map(oneLine)
  return [`sluice: ${first}`, ...rest.map((line) => `        ${line}`), ...aboutRequest(failure)].join("\n")
}

/** Commands that replace the requests that the service's messages mention. */
const COMMANDS: ReadonlyArray<readonly [request: string, command: string]> = [
  ["GET /api/v1/jobs ", "sluice jobs list "],
  ["GET /api/v1/instances/types ", "sluice gpus "],
  ["GET /v1/models ", "sluice models "]
]
const nameCommands = (message: string): string =>
  COMMANDS.reduce((text, [request, command]) => text.replaceAll(request, command), message)

const codes = {
  UsageWrong: "usage",
  KeyMissing: "api_key_missing",
  KeyMalformed: "api_key_malformed",
  Unreachable: "unreachable",
  AnswerStrange: "answer_not_understood",
  Stopped: "stopped"
} as const

const aboutRequest = (failure: Failure): ReadonlyArray<string> => {
  if (failure._tag !== "Refused") return []
  const job = failure.details.job_id
  const advice =
    failure.status === 401
      ? ["        Check SLUICE_API_KEY; a new key: sluice admin key create --workspace NAME"]
      : typeof job === "string"
        ? [`        See: sluice jobs show ${oneLine(job)}`]
        : []
  return [...advice, ...(failure.requestId === null ? [] : [`        (request ${oneLine(failure.requestId)})`])]
}

/** The flag that sets each field of POST /jobs. */
const flags: { readonly [field: string]: string } = {
  command: "the command",
  gpu_type: "--gpu",
  gpu_count: "--gpus",
  max_runtime_minutes: "--timeout",
  capacity_wait_minutes: "--capacity-wait",
  max_cost_usd: "--max-cost",
  storage_id: "--volume",
  labels: "--label",
  env: "-e"
}

/** Returns the issues of a 422 in terms of the flags: `--gpu must be one of ...`. */
const issuesOf = (details: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  !Array.isArray(details.issues)
    ? []
    : details.issues.flatMap((issue: unknown) =>
        typeof issue === "object" && issue !== null && "message" in issue && "path" in issue
          ? [issueText(String(issue.path), String(issue.message))]
          : []
      )

export const issueText = (path: string, message: string): string => {
  const [field = "", ...inner] = path.split(".")
  if (field === "") return `The request ${message}`
  const name = flags[field] ?? `--${field.replaceAll("_", "-")}`
  if (field === "label") return `${name} must be key=value`
  if (field.endsWith("_minutes")) return `${name} ${message.replace("an integer from", "minutes from")}`
  return inner.length === 0 ? `${name} ${message}` : `${name} ${inner.join(".")}: ${message}`
}
