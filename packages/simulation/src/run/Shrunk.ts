/** Looks for a smaller scenario that breaks the same invariant, and writes it where it can be run again. */
import { writeFileSync } from "node:fs"
import type { SharedDatabase } from "../database/SharedDatabase.ts"
import { planOf } from "../plan/PlanOf.ts"
import type { Outcome } from "../report/Outcome.ts"
import type { Smaller } from "../report/TextReport.ts"
import { faultsOf, type Planned, shrink } from "../shrink/Shrink.ts"
import type { RunOptions } from "./RunOptions.ts"
import { simulate } from "./Simulation.ts"

const BUDGET = 120

/** The smallest scenario found that breaks what the outcome's broke. */
export const smallest = (database: SharedDatabase, outcome: Outcome, options: RunOptions = {}, budget = BUDGET) => {
  const broken = outcome.violation!.invariant
  const start: Planned = { ...outcome.scenario, plan: outcome.scenario.plan ?? planOf(outcome.scenario) }
  return shrink(start, {
    budget,
    fails: async (scenario) => (await simulate(database, scenario, options)).violation?.invariant === broken
  })
}

export const shrunk = async (database: SharedDatabase, outcome: Outcome): Promise<Smaller> => {
  const { runs, scenario } = await smallest(database, outcome)
  const file = `simulation-${outcome.scenario.seed}.json`
  writeFileSync(file, `${JSON.stringify(scenario, null, 2)}\n`)
  return { scenario, file, runs, items: scenario.plan.items.length, faults: faultsOf(scenario) }
}
