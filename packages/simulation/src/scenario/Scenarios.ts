/** Scenarios by name, and those that people write: JSON of which all that is left out is taken from the default one. */
import { Effect, Schema, SchemaIssue } from "effect"
import { CALL_FAULTS, type FaultRates, noFaults, PLANNED_FAULTS } from "@sluice/simulator/faults/Fault"
import { type Scenario, ScenarioFile } from "./Scenario.ts"

/** Not a scenario. `issues` are all that is wrong, each with its path. */
export class ScenarioInvalid extends Schema.TaggedError<ScenarioInvalid>()("ScenarioInvalid", {
  issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
}) {
  override get message(): string {
    return `This is not a scenario:\n${this.issues.map(({ message, path }) => `  ${path}: ${message}`).join("\n")}`
  }
}

const faults = (rate: number, planned: number, more: Partial<FaultRates> = {}): FaultRates => ({
  ...(Object.fromEntries([
    ...CALL_FAULTS.map((fault) => [fault, rate]),
    ...PLANNED_FAULTS.map((fault) => [fault, planned])
  ]) as FaultRates),
  ...more
})

const shares = {
  cancelled: 0.15,
  followed: 0.02,
  withVolume: 0.1,
  withSecret: 0.3,
  withCeiling: 0.1,
  withBudget: 0.2,
  poor: 0.2,
  hangUps: 0.2,
  withTools: 0.2,
  responses: 0.2,
  twins: 0.2,
  crowds: 0.03,
  forgotten: 0.25
}

/** Hundreds of machines for days, every fault at a rate that an operator might see in a bad month. */
export const defaultScenario = (seed: number): Scenario => ({
  seed,
  hours: 24,
  gpus: 512,
  workspaces: 8,
  jobsPerHour: 60,
  chatsPerHour: 30,
  embeddingsPerHour: 3,
  imagesPerHour: 3,
  speechPerHour: 3,
  transcriptionsPerHour: 3,
  videosPerHour: 3,
  jobMinutes: [5, 600],
  shares,
  databaseMs: [0, 0],
  pollSeconds: 60,
  lookSeconds: 600,
  faults: faults(0.01, 0.2, {
    log_flood: 0.001,
    database_lost: 0.001,
    database_serialization: 0.001,
    database_slow: 0.001
  }),
  flat: false,
  plan: null
})

/** A small fleet for some minutes with everything on: for searching, one run takes about a second. */
export const quickScenario = (seed: number): Scenario => ({
  ...defaultScenario(seed),
  hours: 0.1,
  gpus: 24,
  workspaces: 3,
  jobsPerHour: 200,
  chatsPerHour: 60,
  embeddingsPerHour: 15,
  imagesPerHour: 15,
  speechPerHour: 15,
  transcriptionsPerHour: 15,
  videosPerHour: 40,
  jobMinutes: [0.1, 8],
  shares: { ...shares, cancelled: 0.3, followed: 0.3, withVolume: 0.3, withBudget: 0.4, poor: 0.4 },
  databaseMs: [1, 20],
  pollSeconds: 5,
  lookSeconds: 5,
  faults: faults(0.04, 20, {
    start_endless: 0.005,
    log_flood: 0.005,
    database_lost: 0.01,
    database_serialization: 0.01,
    database_slow: 0.01
  })
})

const decode = Schema.decodeUnknownEffect(ScenarioFile)
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()
/** All issues at once, and nothing that is not known. */
const STRICT = { errors: "all", onExcessProperty: "error" } as const

/** A scenario from JSON. */
export const decodeScenario = (json: unknown): Effect.Effect<Scenario, ScenarioInvalid> => {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    return Effect.fail(new ScenarioInvalid({ issues: [{ path: "(the file)", message: "must be a JSON object" }] }))
  }
  const given = json as Record<string, unknown>
  const whole = defaultScenario(0)
  const filled = {
    ...whole,
    ...given,
    shares: filledFrom(whole.shares, given["shares"]),
    faults: filledFrom(noFaults, given["faults"])
  }
  return Effect.mapBoth(decode(filled, STRICT), {
    onSuccess: (file) => {
      const { $schema: _, ...scenario } = file
      return scenario
    },
    onFailure: (error) => {
      const issues = issuesOf(error.issue).issues.map((issue) => ({
        path: (issue.path ?? []).map(String).join(".") || "(the file)",
        message: issue.message
      }))
      return new ScenarioInvalid({ issues })
    }
  })
}

const filledFrom = (defaults: object, given: unknown): unknown =>
  given === undefined
    ? defaults
    : typeof given === "object" && given !== null && !Array.isArray(given)
      ? { ...defaults, ...given }
      : given

/** The published JSON Schema: every field may be left out. */
export const scenarioJsonSchema = (): unknown => {
  const document = Schema.toJsonSchemaDocument(ScenarioFile, STRICT)
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Scenario of a Sluice simulation",
    ...optional(document.schema),
    $defs: document.definitions
  }
}

/** Of the scenario and its shares and faults, nothing is required. */
const optional = (schema: unknown): Record<string, unknown> => {
  const {
    required: _,
    properties,
    ...rest
  } = schema as {
    readonly required?: unknown
    readonly properties?: Record<string, Record<string, unknown>>
  }
  const inner = Object.entries(properties ?? {}).map(([name, one]) => {
    if (name !== "shares" && name !== "faults") return [name, one]
    const { required: __, ...open } = one
    return [name, open]
  })
  return { ...rest, properties: Object.fromEntries(inner) }
}
