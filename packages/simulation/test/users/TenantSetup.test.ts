/** A run in which no workspace comes to be ends all the same, and tells why. */
import { noFaults } from "@sluice/simulator/faults/Fault"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { openDatabase } from "../../src/database/GuardedDatabase.ts"
import { simulate } from "../../src/run/Simulation.ts"
import { quickScenario } from "../../src/scenario/Scenarios.ts"

describe("A run on a database that never answers", () => {
  it("breaks the invariant that every request is answered", { timeout: 300_000 }, async () => {
    const database = await Effect.runPromise(openDatabase)
    const faults = { ...noFaults, database_lost: 1 }
    const { violation } = await simulate(database, { ...quickScenario(1), faults })
    assert.strictEqual(violation?.invariant, "I45 Every request is answered")
    assert.deepStrictEqual(violation?.found, ["tenant/workspace-1/workspace"])
  })
})
