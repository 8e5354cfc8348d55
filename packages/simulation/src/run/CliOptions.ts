/** What `npm run simulate` is asked for, as text. */
import { Effect, Schema } from "effect"
import { accessSync, constants, readFileSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { parseArgs } from "node:util"
import { MAX_HOURS, type Scenario } from "../scenario/Scenario.ts"
import { decodeScenario, defaultScenario, quickScenario, ScenarioInvalid } from "../scenario/Scenarios.ts"

export const USAGE = `npm run simulate -- [options]

  --seed N          what all chance follows from (default: today's)
  --days N          virtual days during which users come (default 1)
  --hours N         so many hours, beside --days so many more
  --quick           a small fleet for six minutes: a run takes a second or three
  --scenario FILE   a scenario as JSON (packages/simulation/scenario.schema.json)
  --runs N          so many runs, each with the next seed, until one breaks
  --until-failure   runs with ever new seeds until an invariant breaks
  --report FILE     writes the picture of the fleet as one HTML page; of many runs, of the one that broke
  --json            the outcome as JSON on stdout
  --no-shrink       a failure as it is, without looking for a smaller one`

/** It makes no sense; the message says what would. */
export class OptionsInvalid extends Schema.TaggedError<OptionsInvalid>()("OptionsInvalid", {
  message: Schema.String
}) {}

export interface CliOptions {
  readonly help: boolean
  readonly scenario: Scenario
  /** Infinity: until one breaks. */
  readonly runs: number
  readonly report: string | undefined
  readonly json: boolean
  readonly shrink: boolean
  /** What to type to see the run of this seed again. */
  readonly again: (seed: number) => string
}

/** `today`: the seed where none is given. */
export const parseOptions = (args: ReadonlyArray<string>, today: number): CliOptions => {
  const values = parsed(args)
  const { json = false, report } = values
  if (report !== undefined) checkWritable(report)
  return {
    help: values.help === true,
    scenario: scenarioOf(values, whole("seed", values.seed, 0), today),
    runs: values["until-failure"] === true ? Number.POSITIVE_INFINITY : (whole("runs", values.runs, 1) ?? 1),
    report,
    json,
    shrink: values["no-shrink"] !== true,
    again: (seed) => commandOf({ ...values, seed: String(seed) })
  }
}

/** What is typed to run a scenario file, or what else a run depends on. */
export const commandOf = (values: Pick<Values, "scenario" | "quick" | "days" | "hours" | "seed">): string => {
  const given = (["scenario", "days", "hours", "seed"] as const).flatMap((name) => {
    const value = values[name]
    return value === undefined ? [] : [`--${name}`, quoted(value)]
  })
  return ["npm run simulate --", ...(values.quick === true ? ["--quick"] : []), ...given].join(" ")
}

/** As a shell takes it for one word. */
const quoted = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

type Values = ReturnType<typeof parsed>

const parsed = (args: ReadonlyArray<string>) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: { type: "string" },
        days: { type: "string" },
        hours: { type: "string" },
        quick: { type: "boolean" },
        scenario: { type: "string" },
        runs: { type: "string" },
        "until-failure": { type: "boolean" },
        report: { type: "string" },
        json: { type: "boolean" },
        "no-shrink": { type: "boolean" },
        help: { type: "boolean", short: "h" }
      }
    }).values
  } catch (error) {
    throw new OptionsInvalid({ message: reasonOf(error) })
  }
}

const whole = (name: string, text: string | undefined, least: number): number | undefined => {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < least || text.trim() === "")
    throw new OptionsInvalid({ message: `--${name} must be a whole number from ${least}, not ${text}` })
  return value
}

const scenarioOf = (values: Values, seed: number | undefined, today: number): Scenario => {
  const { days, hours } = { days: whole("days", values.days, 1), hours: whole("hours", values.hours, 1) }
  const users = days === undefined && hours === undefined ? undefined : (days ?? 0) * 24 + (hours ?? 0)
  if (users !== undefined && users > MAX_HOURS) {
    const given = [...(days === undefined ? [] : ["--days"]), ...(hours === undefined ? [] : ["--hours"])].join(" and ")
    throw new OptionsInvalid({ message: `${given} must be ${MAX_HOURS} hours at most, not ${users}` })
  }
  if (values.scenario !== undefined && values.quick === true)
    throw new OptionsInvalid({ message: "--quick is a scenario of its own: leave out it or --scenario" })
  const scenario =
    values.scenario !== undefined
      ? scenarioIn(values.scenario)
      : values.quick === true
        ? quickScenario(today)
        : defaultScenario(today)
  return { ...scenario, seed: seed ?? scenario.seed, hours: users ?? scenario.hours }
}

const scenarioIn = (file: string): Scenario => {
  let text: string
  try {
    // Without the mark that some editors put in front.
    text = new TextDecoder().decode(readFileSync(file))
  } catch (error) {
    throw new OptionsInvalid({ message: `--scenario ${file} can't be read: ${reasonOf(error)}` })
  }
  try {
    return Effect.runSync(decodeScenario(JSON.parse(text)))
  } catch (error) {
    const why = error instanceof ScenarioInvalid ? error.message : `This is not JSON: ${reasonOf(error)}`
    throw new OptionsInvalid({ message: `--scenario ${file}: ${why}` })
  }
}

/** Before a run of hours, not after it. */
const checkWritable = (file: string): void => {
  try {
    const there = statSync(file, { throwIfNoEntry: false })
    if (there?.isDirectory() === true) throw new Error("it is a directory")
    accessSync(there === undefined ? dirname(file) : file, constants.W_OK)
  } catch (error) {
    throw new OptionsInvalid({ message: `--report ${file} can't be written: ${reasonOf(error)}` })
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
