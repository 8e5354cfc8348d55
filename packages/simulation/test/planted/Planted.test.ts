/** A simulation that finds nothing proves nothing: here are bugs, and it finds each within the runs that are stated. */
import { openDatabase } from "../../src/database/GuardedDatabase.ts"
import type { SharedDatabase } from "../../src/database/SharedDatabase.ts"
import { Rewrite } from "../../src/database/Rewrite.ts"
import { simulate } from "../../src/run/Simulation.ts"
import { shrinkRun } from "../../src/run/ShrinkRun.ts"
import { quickScenario } from "../../src/scenario/Scenarios.ts"
import { Effect } from "effect"
import { assert, beforeAll, describe, it } from "vitest"
import { type Bug, BUGS } from "./Bugs.ts"
import { REQUEST_BUGS } from "./RequestBugs.ts"

let database: SharedDatabase
beforeAll(async () => {
  database = await Effect.runPromise(openDatabase)
}, 60_000)

const planted = ({ after, before, machines, models, statements }: Bug) => {
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

const firstFailure = async (bug: Bug) => {
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

describe("The simulation finds", () => {
  for (const bug of [...BUGS, ...REQUEST_BUGS]) {
    it(bug.name, { timeout: 180_000 }, async () => {
      const { scenario, violation } = await firstFailure(bug)
      process.stderr.write(`seed ${scenario.seed}: ${violation!.invariant}: ${bug.name}\n`)
    })
  }

  it("and shrinks a failure to the few users that still break it", { timeout: 180_000 }, async () => {
    const bug = BUGS.find(({ name }) => name.startsWith("a volume stays"))!
    const outcome = await firstFailure(bug)
    const { runs, scenario } = await shrinkRun(database, outcome, { ...planted(bug).options, budget: 60 })
    assert.isAtMost(scenario.plan.items.length, 3, JSON.stringify(scenario.plan.items))
    assert.isTrue(scenario.plan.items.some((item) => item._tag === "Submit" && item.volume !== null))
    process.stderr.write(`shrunk to ${scenario.plan.items.length} items in ${runs} runs\n`)
    // What is left breaks by itself, and only with the bug.
    const again = await simulate(database, scenario, planted(bug).options)
    assert.strictEqual(again.violation?.invariant, outcome.violation!.invariant)
    assert.isNull((await simulate(database, scenario)).violation)
  })
})
