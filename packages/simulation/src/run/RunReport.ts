/**
 * Tells what came of a run. Of a failure all that is known is out before a smaller one is looked for, which takes many
 * runs: who ends that, or has no room for its file, has lost nothing.
 */
import { Effect } from "effect"
import { htmlReport } from "../report/HtmlReport.ts"
import { jsonReport } from "../report/JsonReport.ts"
import type { Outcome, Smaller } from "../report/Outcome.ts"
import { failureText, smallerText, textReport } from "../report/TextReport.ts"
import { decodeScenario } from "../scenario/Scenarios.ts"
import { faultsOf, type Shrunk } from "../shrink/Shrink.ts"
import { type CliOptions, commandOf } from "./CliOptions.ts"

export interface ReportOutputs {
  /** A text of the report, for whoever asked. */
  readonly out: (text: string) => void
  /** What goes on, beside it. */
  readonly aside: (text: string) => void
  /** Throws where it can't. */
  readonly write: (file: string, text: string) => void
  readonly smallest: (outcome: Outcome) => Promise<Shrunk>
}

export const reportRun = async (asked: CliOptions, outcome: Outcome, ways: ReportOutputs): Promise<void> => {
  const { json, shrink } = asked
  if (outcome.violation === null) {
    ways.out(json ? JSON.stringify(jsonReport(outcome)) : textReport(outcome))
    const problem = picture(asked, outcome, ways)
    if (problem !== undefined) throw problem
    return
  }
  const again = asked.again(outcome.scenario.seed)
  if (json) ways.aside(failureText(outcome, again))
  else ways.out(textReport(outcome, again))
  const problem = picture(asked, outcome, ways)
  if (problem !== undefined) ways.aside(`the picture can't be written: ${reasonOf(problem)}`)
  const smaller = shrink ? written(await ways.smallest(outcome), outcome, ways) : undefined
  if (json) ways.out(JSON.stringify(jsonReport(outcome, again, smaller)))
  else if (smaller !== undefined) ways.out(smallerText(smaller))
}

/** Answers why there is none that was asked for. */
const picture = ({ report }: CliOptions, outcome: Outcome, ways: ReportOutputs): unknown => {
  if (report === undefined) return undefined
  try {
    ways.write(report, htmlReport(outcome))
    ways.aside(`the picture is in ${report}`)
    return undefined
  } catch (error) {
    return error
  }
}

const written = ({ runs, scenario }: Shrunk, outcome: Outcome, ways: ReportOutputs): Smaller => {
  const file = `simulation-${outcome.scenario.seed}.json`
  const found = { scenario, runs, items: scenario.plan.items.length, faults: faultsOf(scenario) }
  const smaller = { ...found, file, problem: null, command: commandOf({ scenario: file }) }
  try {
    // What can't be loaded is no way to see it again.
    Effect.runSync(decodeScenario(scenario))
    ways.write(file, `${JSON.stringify(scenario, null, 2)}\n`)
    return smaller
  } catch (error) {
    return { ...smaller, problem: reasonOf(error) }
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
