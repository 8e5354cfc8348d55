/** Seeded runs with every fault on: nothing breaks, and each run repeats to the byte. */
import { openDatabase, type SharedDatabase } from "../../src/database/SharedDatabase.ts"
import { simulate } from "../../src/run/Simulation.ts"
import { quickScenario } from "../../src/scenario/Scenarios.ts"
import { textReport } from "../../src/report/TextReport.ts"
import { CALL_FAULTS } from "../../src/faults/Fault.ts"
import { Effect } from "effect"
import { assert, beforeAll, describe, it } from "vitest"

const RUNS = Number(process.env["SLUICE_TEST_RUNS"] ?? 12)

let database: SharedDatabase
beforeAll(async () => {
  database = await Effect.runPromise(openDatabase)
}, 60_000)

const run = (seed: number, checkEveryMs = 5_000) => simulate(database, quickScenario(seed), { checkEveryMs })

describe("Seeded runs", () => {
  it("break no invariant", { timeout: 900_000 }, async () => {
    const struck = new Set<string>()
    let jobs = 0
    const seeds = Array.from({ length: RUNS }, (_, i) => 2 * i + 1)
    for (const seed of seeds) {
      const outcome = await run(seed)
      assert.isNull(outcome.violation, textReport(outcome))
      for (const fault of Object.keys(outcome.struck)) struck.add(fault)
      jobs += outcome.jobs.length
    }
    process.stderr.write(`${RUNS} runs: ${jobs} jobs, ${struck.size} kinds of faults
`)
    assert.isAbove(struck.size, CALL_FAULTS.length / 2)
  })

  it("look at every invariant after every change", { timeout: 120_000 }, async () => {
    const outcome = await run(3, 0)
    assert.isNull(outcome.violation, textReport(outcome))
    assert.isAbove(outcome.checks, 100)
    // Looking changes nothing.
    assert.strictEqual((await run(3)).history, outcome.history)
  })

  it(
    "repeat to the byte, kills, faults and latency included, and differ by their seed",
    { timeout: 120_000 },
    async () => {
      const first = await run(5)
      const again = await run(5)
      assert.strictEqual(again.history, first.history)
      assert.strictEqual(again.steps, first.steps)
      assert.deepStrictEqual(again.jobs, first.jobs)
      assert.notStrictEqual((await run(6)).history, first.history)
    }
  )
})
