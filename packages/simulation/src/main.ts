/**
 * `npm run simulate`: runs the whole service in virtual time and tells what came of it. Exit code 0: nothing broke; 1: an
 * invariant did; 2: it was asked for something that makes no sense.
 */
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { openDatabase } from "./database/GuardedDatabase.ts"
import { htmlReport } from "./report/HtmlReport.ts"
import { jsonReport } from "./report/JsonReport.ts"
import type { Outcome } from "./report/Outcome.ts"
import { textReport } from "./report/TextReport.ts"
import { search } from "./run/Search.ts"
import { progressLine } from "./run/ProgressLine.ts"
import { simulate } from "./run/Simulation.ts"
import type { Scenario } from "./scenario/Scenario.ts"
import { decodeScenario, defaultScenario, quickScenario } from "./scenario/Scenarios.ts"
import { shrunk } from "./run/Shrunk.ts"

const USAGE = `npm run simulate -- [options]

  --seed N          what all chance follows from (default: today's)
  --days N          virtual days during which users come (default 30)
  --hours N         the same in hours
  --quick           a small fleet for an hour: a run takes a second
  --scenario FILE   a scenario as JSON (packages/simulation/scenario.schema.json)
  --runs N          so many runs, each with the next seed
  --until-failure   runs with ever new seeds until an invariant breaks
  --report FILE     writes the picture of the fleet as one HTML page
  --json            the outcome as JSON on stdout
  --no-shrink       a failure as it is, without looking for a smaller one`

class Asked extends Error {}

const whole = (name: string, text: string | undefined, least: number): number | undefined => {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < least)
    throw new Asked(`--${name} must be a whole number from ${least}, not ${text}`)
  return value
}

const readOptions = () => {
  const { values } = parseArgs({
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
  })
  const days = whole("days", values.days, 1)
  return {
    ...values,
    seed: whole("seed", values.seed, 0),
    hours: whole("hours", values.hours, 1) ?? (days === undefined ? undefined : days * 24),
    runs: whole("runs", values.runs, 1)
  }
}

type Options = ReturnType<typeof readOptions>

const today = () => Math.floor(performance.timeOrigin / 86_400_000)

const scenarioOf = (options: Options, seed: number): Scenario => {
  if (options.scenario !== undefined) {
    const given = Effect.runSync(decodeScenario(JSON.parse(readFileSync(options.scenario, "utf8"))))
    return { ...given, hours: options.hours ?? given.hours, seed: options.seed ?? given.seed }
  }
  const scenario = options.quick === true ? quickScenario(seed) : defaultScenario(seed)
  return { ...scenario, hours: options.hours ?? scenario.hours }
}

const tell = async (options: Options, outcome: Outcome, database: Awaited<ReturnType<typeof open>>): Promise<void> => {
  const smaller =
    outcome.violation === null || options["no-shrink"] === true ? undefined : await shrunk(database, outcome)
  process.stdout.write(
    options.json === true ? `${JSON.stringify(jsonReport(outcome))}\n` : `${textReport(outcome, smaller)}\n`
  )
  if (options.report !== undefined) {
    writeFileSync(options.report, htmlReport(outcome))
    process.stderr.write(`the picture is in ${options.report}\n`)
  }
}

const open = () => Effect.runPromise(openDatabase)

const main = async (): Promise<number> => {
  const options = readOptions()
  if (options.help === true) {
    process.stdout.write(`${USAGE}\n`)
    return 0
  }
  const first = options.seed ?? today()
  const scenario = scenarioOf(options, first)
  const database = await open()
  const runs = options["until-failure"] === true ? Number.POSITIVE_INFINITY : (options.runs ?? 1)
  const progress = progressLine(process.stderr)
  if (runs === 1) {
    const outcome = await simulate(database, scenario, { progress: progress.within })
    progress.end()
    await tell(options, outcome, database)
    return outcome.violation === null ? 0 : 1
  }
  const found = await search(database, scenario, runs, progress.between)
  progress.end()
  if (found === undefined) {
    process.stdout.write(`${runs} runs from seed ${first}: no invariant broke\n`)
    return 0
  }
  await tell(options, found, database)
  return 1
}

main().then(
  (code) => process.exit(code),
  (cause: unknown) => {
    const known = cause instanceof Asked || (cause instanceof Error && "code" in cause)
    process.stderr.write(
      known ? `${cause.message}\n\n${USAGE}\n` : `${cause instanceof Error ? cause.message : String(cause)}\n`
    )
    process.exit(2)
  }
)
