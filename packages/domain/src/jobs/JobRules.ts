/**
 * Rules of a job request that compare several values, or a value with the provider's offer. They check every part of
 * the body that has the right type, so that their issues are reported together with those of the shape.
 */
import type { NanoUsd } from "../billing/Money.ts"
import { type Issue, pathText } from "../requests/BodyIssues.ts"
import { cutText, LONE_SURROGATE } from "../requests/LoneSurrogates.ts"
import { byteLength } from "../machines/LaunchScript.ts"

const MAX_ENV_KEYS = 200
const MAX_ENV_VALUE_BYTES = 32_768
const MAX_ENV_TOTAL_BYTES = 65_536
const MAX_LABELS = 16
export const MAX_GPU_COUNT = 8
const MAX_VARIABLE_NAME_CHARACTERS = 255
/** Characters of an invalid key that a message quotes at most. */
const MAX_QUOTED_CHARACTERS = 64

/** The provider's current offer, for the checks. */
export interface Offer {
  readonly gpuTypes: ReadonlyArray<{
    readonly id: string
    readonly maxGpuCount: number
    readonly regions: ReadonlyArray<string>
  }>
  readonly templates: ReadonlyArray<{ readonly id: string }>
  readonly priceOf: (gpuType: string) => NanoUsd | undefined
}

const entriesOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : []

const variableIssue = (name: string, value: unknown): string | undefined => {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return "a variable's name must match ^[A-Za-z_][A-Za-z0-9_]*$"
  if (name.length > MAX_VARIABLE_NAME_CHARACTERS)
    return `a variable's name must have at most ${MAX_VARIABLE_NAME_CHARACTERS} characters`
  if (name.startsWith("SERVICE_")) return "names that start with SERVICE_ are reserved"
  if (typeof value !== "string") return undefined
  if (byteLength(value) > MAX_ENV_VALUE_BYTES) return "must be at most 32 KB"
  if (value.includes("\0")) return "must not contain NUL"
  return value.isWellFormed() ? undefined : LONE_SURROGATE
}

/** Checks the names, the sizes of the values and their sum. A message never contains a value. */
export const envIssues = (env: unknown): ReadonlyArray<Issue> => {
  const entries = entriesOf(env)
  const issues: Array<Issue> = []
  if (entries.length > MAX_ENV_KEYS) issues.push({ path: "env", message: `must have at most ${MAX_ENV_KEYS} keys` })
  let total = 0
  for (const [name, value] of entries.slice(0, MAX_ENV_KEYS)) {
    total += typeof value === "string" ? byteLength(value) : 0
    const message = variableIssue(name, value)
    if (message !== undefined) issues.push({ path: pathText(["env", cutText(name, MAX_QUOTED_CHARACTERS)]), message })
  }
  if (total > MAX_ENV_TOTAL_BYTES)
    issues.push({ path: "env", message: "must be at most 64 KB in total with the secrets" })
  return issues
}

export const labelIssues = (labels: unknown): ReadonlyArray<Issue> => {
  const entries = entriesOf(labels)
  if (entries.length > MAX_LABELS) return [{ path: "labels", message: `must have at most ${MAX_LABELS} labels` }]
  return entries
    .filter(
      ([key, value]) =>
        !/^[A-Za-z0-9][\w./-]{0,62}$/.test(key) || (typeof value === "string" && !/^[\w./:@ -]{0,63}$/.test(value))
    )
    .map(([key]) => ({
      path: pathText(["labels", cutText(key, MAX_QUOTED_CHARACTERS)]),
      message:
        "a label has at most 63 characters of letters, digits and . _ / - (its value also : @ and blank), and its name " +
        "begins with a letter or a digit"
    }))
}

const mustBeOneOf = (ids: ReadonlyArray<string>) => `must be one of ${ids.join(", ")}`

export const offerIssues = (body: Readonly<Record<string, unknown>>, offer: Offer): ReadonlyArray<Issue> => {
  const issues: Array<Issue> = []
  const { gpu_count: count, gpu_type: name, region, template } = body
  const type = offer.gpuTypes.find((candidate) => candidate.id === name)
  if (typeof name === "string" && type === undefined) {
    issues.push({ path: "gpu_type", message: mustBeOneOf(offer.gpuTypes.map((candidate) => candidate.id)) })
  }
  // A count that is too high for every type is reported by the shape's check.
  if (type !== undefined && typeof count === "number" && count > type.maxGpuCount && count <= MAX_GPU_COUNT) {
    issues.push({ path: "gpu_count", message: `must be at most ${type.maxGpuCount} for ${type.id}` })
  }
  // For an unknown type every region that any type has is accepted.
  const regions = type?.regions ?? [...new Set(offer.gpuTypes.flatMap((candidate) => candidate.regions))].sort()
  if (typeof region === "string" && !regions.includes(region)) {
    issues.push({
      path: "region",
      message: type === undefined ? mustBeOneOf(regions) : `${mustBeOneOf(regions)} for ${type.id}`
    })
  }
  if (typeof template === "string" && !offer.templates.some((candidate) => candidate.id === template)) {
    issues.push({ path: "template", message: mustBeOneOf(offer.templates.map((candidate) => candidate.id)) })
  }
  return issues
}
