/** Looks for a smaller scenario that breaks the same invariant. */
import type { SharedDatabase } from "../database/SharedDatabase.ts"
import { planOf } from "../plan/PlanOf.ts"
import type { Outcome } from "../report/Outcome.ts"
import { type Planned, shrink, type Shrinking } from "../shrink/Shrink.ts"
import type { RunOptions } from "./RunOptions.ts"
import { simulate } from "./Simulation.ts"

const BUDGET = 120

/** The smallest scenario found that breaks what the outcome's broke. */
export const shrinkRun = (
  database: SharedDatabase,
  outcome: Outcome,
  { budget = BUDGET, progress, ...options }: Omit<RunOptions, "progress"> & Partial<Omit<Shrinking, "fails">> = {}
) => {
  const broken = outcome.violation!.invariant
  const start: Planned = { ...outcome.scenario, plan: outcome.scenario.plan ?? planOf(outcome.scenario) }
  return shrink(start, {
    budget,
    ...(progress === undefined ? {} : { progress }),
    fails: async (scenario) => (await simulate(database, scenario, options)).violation?.invariant === broken
  })
}
