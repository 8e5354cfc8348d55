/**
 * `npm run simulate`: runs the whole service in virtual time and tells what came of it. Exit code 0: nothing broke; 1: an
 * invariant did; 2: it was asked for something that makes no sense; 3: it could not be done, the message says why.
 */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { inspect } from "node:util"
import { openDatabase } from "./database/GuardedDatabase.ts"
import { type CliOptions, parseOptions, OptionsInvalid, USAGE } from "./run/CliOptions.ts"
import { progressLine } from "./run/ProgressLine.ts"
import { search } from "./run/Search.ts"
import { shrinkRun } from "./run/ShrinkRun.ts"
import { simulate } from "./run/Simulation.ts"
import { reportRun, type ReportOutputs } from "./run/RunReport.ts"

type Database = Effect.Success<typeof openDatabase>

const toldTo = (database: Database): ReportOutputs => ({
  out: (text) => process.stdout.write(`${text}\n`),
  aside: (text) => process.stderr.write(`${text}\n`),
  write: writeFileSync,
  smallest: (outcome) => {
    const progress = progressLine(process.stderr)
    return shrinkRun(database, outcome, { progress: progress.shrinking }).finally(progress.end)
  }
})

const one = async (options: CliOptions, database: Database): Promise<number> => {
  const progress = progressLine(process.stderr)
  const outcome = await simulate(database, options.scenario, { progress: progress.within })
  progress.end()
  await reportRun(options, outcome, toldTo(database))
  return outcome.violation === null ? 0 : 1
}

const many = async (options: CliOptions, database: Database): Promise<number> => {
  const { json, report, runs, scenario } = options
  const progress = progressLine(process.stderr)
  const found = await search(database, scenario, runs, progress.between)
  progress.end()
  if (found !== undefined) {
    await reportRun(options, found, toldTo(database))
    return 1
  }
  const { seed } = scenario
  const fine = json
    ? JSON.stringify({ runs, seed, violation: null })
    : `${runs} runs from seed ${seed}: no invariant broke`
  process.stdout.write(`${fine}\n`)
  if (report !== undefined) process.stderr.write(`no picture in ${report}: it is one of the run that breaks\n`)
  return 0
}

const main = async (): Promise<number> => {
  const options = parseOptions(process.argv.slice(2), Math.floor(performance.timeOrigin / 86_400_000))
  if (options.help) {
    process.stdout.write(`${USAGE}\n`)
    return 0
  }
  const database = await Effect.runPromise(openDatabase)
  return options.runs === 1 ? one(options, database) : many(options, database)
}

main().then(
  (code) => process.exit(code),
  (cause: unknown) => {
    const wrong = cause instanceof OptionsInvalid
    process.stderr.write(`${wrong ? `${cause.message}\n\n${USAGE}` : inspect(cause)}\n`)
    process.exit(wrong ? 2 : 3)
  }
)
