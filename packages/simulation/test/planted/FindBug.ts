/** Runs the simulation with one planted bug until an invariant breaks. The seeds are 1, 2, 3 and so on. */
import type { SharedDatabase } from "../../src/database/SharedDatabase.ts"
import { Rewrite } from "../../src/database/Rewrite.ts"
import { simulate } from "../../src/run/Simulation.ts"
import { quickScenario } from "../../src/scenario/Scenarios.ts"
import { assert } from "vitest"
import type { Bug } from "./Bugs.ts"

/** The options of a run with this bug, and the statements that the bug rewrites. */
export const planted = ({ after, before, machines, models, statements }: Bug) => {
  const rewrite = statements === undefined ? undefined : new Rewrite(statements)
  return {
    rewrite,
    options: {
      planted: {
        ...(rewrite === undefined ? {} : { rewrite }),
        ...(machines === undefined ? {} : { machines }),
        ...(models === undefined ? {} : { models }),
        ...(before === undefined ? {} : { before }),
        ...(after === undefined ? {} : { after })
      }
    }
  }
}

/** The first run in which the simulation finds the bug; fails where `bug.within` runs do not. */
export const findBug = async (database: SharedDatabase, bug: Bug) => {
  let made = 0
  for (let seed = 1; seed <= bug.within; seed++) {
    const { options, rewrite } = planted(bug)
    const outcome = await simulate(database, { ...quickScenario(seed), lookSeconds: 1, ...bug.scenario }, options)
    made = Math.max(made, rewrite?.made.size ?? 0)
    if (outcome.violation !== null) {
      assert.strictEqual(rewrite?.made.size, bug.statements?.length, "it is another one that was found")
      return outcome
    }
  }
  // A statement that was not found plants nothing: the bug's text is out of date.
  assert.strictEqual(made, bug.statements?.length ?? 0)
  return assert.fail(`not found in ${bug.within} runs`)
}
