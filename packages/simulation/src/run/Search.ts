/** Many runs with ever new seeds, until one breaks an invariant. */
import type { SharedDatabase } from "../database/SharedDatabase.ts"
import type { Outcome } from "../report/Outcome.ts"
import type { Scenario } from "../scenario/Scenario.ts"
import { simulate } from "./Simulation.ts"

/** The first outcome with a violation; undefined when all runs were fine. */
export const search = async (
  database: SharedDatabase,
  scenario: Scenario,
  runs: number,
  progress: (run: number, outcome: Outcome) => void = () => {}
): Promise<Outcome | undefined> => {
  for (let run = 0; run < runs; run++) {
    const outcome = await simulate(database, { ...scenario, seed: scenario.seed + run })
    progress(run + 1, outcome)
    if (outcome.violation !== null) return outcome
  }
  return undefined
}
