/**
 * Decodes the body of POST /jobs: its shape and its limits (interface: POST /jobs; decisions: Jobs). A refusal lists
 * all mistakes at once. Jobs and quotes use this one decoder, which is pure: the provider's offer is a parameter. Rules
 * that compare several values are in `JobRules`, so that they also run if another field has a wrong type.
 */
import type { Redacted } from "effect"
import { Cause, Exit, Redacted as Redact, Result, Schema } from "effect"
import type { NanoUsd } from "../billing/Money.ts"
import { fromUsd } from "../billing/Money.ts"
import { noNul } from "../database/StoredText.ts"
import * as LaunchScript from "../machines/LaunchScript.ts"
import { DEFAULT_TEMPLATE } from "../machines/Template.ts"
import { type Issue, listIssues } from "../requests/BodyIssues.ts"
import { LONE_SURROGATE } from "../requests/LoneSurrogates.ts"
import { visibleLine } from "../requests/Name.ts"
import { optional } from "../requests/OptionalField.ts"
import type { JobSpec } from "./Job.ts"
import { SERVICE_NAMES } from "./ServiceVariables.ts"
import { envIssues, labelIssues, MAX_GPU_COUNT, type Offer, offerIssues } from "./JobRules.ts"

const MAX_COMMAND_BYTES = 65_536
const MAX_RUNTIME_MINUTES = 1_440
const DEFAULT_CAPACITY_WAIT_MINUTES = 30
const MAX_NAME_CHARACTERS = 63
const MAX_DESCRIPTION_CHARACTERS = 1_024
const MAX_IMAGE_CHARACTERS = 255
/** No real job costs more. The bound keeps amounts far from the end of int8 (9.2 billion USD). */
const MAX_COST_USD = 1_000_000

/** Returns the UTF-8 bytes of a text. */
const bytes = LaunchScript.byteLength

const withMessage = (message: string) => ({ message })
const text = (what: string) =>
  Schema.String.annotate(withMessage(what)).annotateKey({ messageMissingKey: "is required" })
const integer = (minimum: number, maximum: number) => {
  const message = withMessage(`must be an integer from ${minimum} to ${maximum}`)
  return Schema.Finite.annotate(message)
    .check(Schema.isInt(message))
    .check(Schema.isBetween({ minimum, maximum }, message))
    .annotateKey({ messageMissingKey: "is required" })
}
/** Counts code points, as people count characters, not UTF-16 units. */
const atMost = (characters: number) =>
  Schema.isMaxCodePoints(characters, withMessage(`must be at most ${characters} characters long`))
const wellFormed = Schema.makeFilter((value: string) => (value.isWellFormed() ? undefined : LONE_SURROGATE))

const commandRule = Schema.makeFilter((value: string) =>
  value.length === 0
    ? "must not be empty"
    : bytes(value) > MAX_COMMAND_BYTES
      ? `must be at most ${MAX_COMMAND_BYTES} bytes; put a longer script in a file on a volume and run that file`
      : undefined
)

const pairs = Schema.Record(Schema.String, Schema.String.annotate(withMessage("must be a string"))).annotate(
  withMessage("must be an object of names and strings")
)

/** The wire shape. An optional field may also be null. */
export const JobRequestBody = Schema.Struct({
  command: text("must be a string").check(commandRule, noNul, wellFormed),
  gpu_type: text("must be a string: a gpu_type of GET /instances/types"),
  max_runtime_minutes: integer(1, MAX_RUNTIME_MINUTES),
  gpu_count: optional(integer(1, MAX_GPU_COUNT)),
  template: optional(text("must be a string: an id of GET /templates")),
  image: optional(
    text("must be a string").check(
      Schema.isPattern(/^[\w][\w./:@-]*$/, withMessage("must be a container image reference, like python:3.12")),
      atMost(MAX_IMAGE_CHARACTERS)
    )
  ),
  env: optional(pairs),
  storage_id: optional(
    text("must be a string: a volume's id").check(Schema.isUUID(undefined, withMessage("must be a UUID")))
  ),
  name: optional(text("must be a string").check(atMost(MAX_NAME_CHARACTERS), visibleLine)),
  description: optional(text("must be a string").check(atMost(MAX_DESCRIPTION_CHARACTERS), visibleLine)),
  region: optional(text("must be a string: a region's id")),
  capacity_wait_minutes: optional(integer(1, MAX_RUNTIME_MINUTES)),
  max_cost_usd: optional(
    Schema.Finite.annotate(withMessage("must be a number of USD")).check(
      Schema.isBetween(
        { minimum: 0.000000001, maximum: MAX_COST_USD },
        withMessage(`must be above 0 and at most ${MAX_COST_USD}`)
      )
    )
  ),
  labels: optional(pairs)
})

export interface JobRequest {
  readonly spec: JobSpec
  readonly name: string | undefined
  readonly volumeId: string | undefined
  readonly env: ReadonlyMap<string, Redacted.Redacted<string>>
  readonly labels: Readonly<Record<string, string>> | null
  /** Nano-USD an hour for the whole machine. */
  readonly price: NanoUsd
  readonly launchScriptBytes: number
}

const decodeBody = Schema.decodeUnknownExit(JobRequestBody, { errors: "all", onExcessProperty: "error" })

const shapeIssues = (cause: Cause.Cause<Schema.SchemaError>): ReadonlyArray<Issue> => {
  const failure = Cause.findError(cause)
  return Result.isFailure(failure)
    ? [{ path: "", message: "must be a JSON object" }]
    : listIssues(failure.success.issue, "field of this request")
}

const scriptOf = (body: Readonly<Record<string, unknown>>): LaunchScript.LaunchScript | undefined =>
  typeof body.command !== "string" || body.command.length > MAX_COMMAND_BYTES
    ? undefined
    : {
        command: body.command,
        envKeys: [
          ...(typeof body.env === "object" && body.env !== null ? Object.keys(body.env) : []),
          ...SERVICE_NAMES
        ],
        image: typeof body.image === "string" ? body.image : undefined,
        gpuCount: typeof body.gpu_count === "number" ? body.gpu_count : 1
      }

/** Returns the request, or all mistakes of the body. */
export const decode = (input: unknown, offer: Offer): Result.Result<JobRequest, ReadonlyArray<Issue>> => {
  const raw: Readonly<Record<string, unknown>> =
    typeof input === "object" && input !== null && !Array.isArray(input)
      ? Object.fromEntries(Object.entries(input))
      : {}
  const exit = decodeBody(input)
  const issues = [
    ...(Exit.isFailure(exit) ? shapeIssues(exit.cause) : []),
    ...envIssues(raw.env),
    ...labelIssues(raw.labels),
    ...offerIssues(raw, offer)
  ]
  const script = scriptOf(raw)
  const launchScriptBytes = script === undefined ? 0 : LaunchScript.sizeOf(script)
  if (script !== undefined && launchScriptBytes > LaunchScript.LAUNCH_SCRIPT_LIMIT_BYTES) {
    issues.push({
      path: "command",
      message:
        `must fit the machine's launch script: ${LaunchScript.commandRoom(script)} bytes fit here, it has ` +
        `${bytes(script.command)}; put the script in a file on a volume (or in the image) and run that file`
    })
  }
  if (issues.length > 0 || Exit.isFailure(exit)) return Result.fail(issues)
  const body = exit.value
  const gpuCount = body.gpu_count ?? 1
  return Result.succeed({
    spec: {
      command: body.command,
      gpuType: body.gpu_type,
      gpuCount,
      template: body.template ?? DEFAULT_TEMPLATE,
      image: body.image ?? null,
      envKeys: Object.keys(body.env ?? {}),
      maxRuntimeMinutes: body.max_runtime_minutes,
      capacityWaitMinutes: body.capacity_wait_minutes ?? DEFAULT_CAPACITY_WAIT_MINUTES,
      maxCostNanoUsd: body.max_cost_usd == null ? null : fromUsd(body.max_cost_usd).toString(),
      region: body.region ?? null,
      ...(body.description == null || body.description === "" ? {} : { description: body.description })
    },
    name: body.name == null || body.name === "" ? undefined : body.name,
    // Ids are stored in one spelling: the database treats two spellings as equal, but the provider, which stores the
    // volume's files, does not.
    volumeId: body.storage_id?.toLowerCase(),
    env: new Map(Object.entries(body.env ?? {}).map(([key, value]) => [key, Redact.make(value)])),
    labels: body.labels ?? null,
    price: (offer.priceOf(body.gpu_type) ?? 0n) * BigInt(gpuCount),
    launchScriptBytes
  })
}
