/** A simulation that finds nothing proves nothing: here are bugs, and it finds each within the runs that are stated. */
import { openDatabase } from "../../src/database/GuardedDatabase.ts"
import type { SharedDatabase } from "../../src/database/SharedDatabase.ts"
import { simulate } from "../../src/run/Simulation.ts"
import { shrinkRun } from "../../src/run/ShrinkRun.ts"
import { Effect } from "effect"
import { assert, beforeAll, describe, it } from "vitest"
import { BUGS } from "./Bugs.ts"
import { findBug, planted } from "./FindBug.ts"
import { REQUEST_BUGS } from "./RequestBugs.ts"

let database: SharedDatabase
beforeAll(async () => {
  database = await Effect.runPromise(openDatabase)
})

describe("The simulation finds", () => {
  for (const bug of [...BUGS, ...REQUEST_BUGS]) {
    it(bug.name, { timeout: 300_000 }, async () => {
      await findBug(database, bug)
    })
  }

  it("and shrinks a failure to the few users that still break it", { timeout: 300_000 }, async () => {
    const bug = BUGS.find(({ name }) => name.startsWith("a volume stays"))!
    const outcome = await findBug(database, bug)
    const { scenario } = await shrinkRun(database, outcome, { ...planted(bug).options, budget: 60 })
    assert.isAtMost(scenario.plan.items.length, 3, JSON.stringify(scenario.plan.items))
    assert.isTrue(scenario.plan.items.some((item) => item._tag === "Submit" && item.volume !== null))
    // What is left breaks by itself, and only with the bug.
    const again = await simulate(database, scenario, planted(bug).options)
    assert.strictEqual(again.violation?.invariant, outcome.violation!.invariant)
    assert.isNull((await simulate(database, scenario)).violation)
  })
})
