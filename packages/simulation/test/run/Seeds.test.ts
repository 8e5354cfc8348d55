/** Some seeded runs with every fault on: no invariant breaks, and a run repeats to the byte. `Seeds.deep.test.ts` runs hundreds. */
import { openDatabase } from "../../src/database/GuardedDatabase.ts"
import type { SharedDatabase } from "../../src/database/SharedDatabase.ts"
import { planOf } from "../../src/plan/PlanOf.ts"
import { simulate } from "../../src/run/Simulation.ts"
import { quickScenario } from "../../src/scenario/Scenarios.ts"
import { textReport } from "../../src/report/TextReport.ts"
import { noFaults } from "@sluice/simulator/faults/Fault"
import { Effect } from "effect"
import { assert, beforeAll, describe, it } from "vitest"

/** Whole runs, and runs of about a minute, in which a start and an end are never far. */
const WHOLE = [1, 2, 3]
const BRIEF = [4, 5, 6, 7, 8, 9]
const BRIEF_HOURS = 0.02

let database: SharedDatabase
beforeAll(async () => {
  database = await Effect.runPromise(openDatabase)
})

const brief = (seed: number) => ({ ...quickScenario(seed), hours: BRIEF_HOURS })
const run = (seed: number) => simulate(database, brief(seed))

describe("Seeded runs", () => {
  for (const seed of WHOLE) {
    it(`break no invariant: seed ${seed}`, async () => {
      const outcome = await simulate(database, quickScenario(seed))
      assert.isNull(outcome.violation, textReport(outcome))
      assert.isAbove(outcome.jobs.length, 3)
      assert.isAbove(Object.keys(outcome.struck).length, 5)
    })
  }

  for (const seed of BRIEF) {
    it(`break no invariant in a minute: seed ${seed}`, async () => {
      const outcome = await run(seed)
      assert.isNull(outcome.violation, textReport(outcome))
    })
  }

  it("look at every invariant after every change", async () => {
    const outcome = await simulate(database, { ...brief(3), lookSeconds: 0 })
    assert.isNull(outcome.violation, textReport(outcome))
    assert.isAbove(outcome.checks, 100)
  })

  it("repeat to the byte, kills, faults and latency included, and differ by their seed", async () => {
    const first = await run(5)
    const again = await run(5)
    assert.strictEqual(again.history, first.history)
    assert.strictEqual(again.steps, first.steps)
    assert.deepStrictEqual(again.jobs, first.jobs)
    assert.notStrictEqual((await run(6)).history, first.history)
  })
})

describe("A plan", () => {
  it("is played whole, in whatever order it is listed", async () => {
    const { items, tenants } = planOf(quickScenario(3))
    const last = { ...items.find((item) => item._tag === "Submit")!, at: 900_000 }
    const early = { _tag: "RotateKey" as const, id: "key", at: 1_000, workspace: last.workspace }
    const outcome = await simulate(database, { ...brief(3), faults: noFaults, plan: { tenants, items: [last, early] } })
    assert.isNull(outcome.violation)
    assert.strictEqual(outcome.jobs.length + Object.keys(outcome.refused).length, 1)
  })
})
