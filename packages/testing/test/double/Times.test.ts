/** A fault strikes as often as it was asked to and no more, however many could be struck meanwhile. */
import type { FaultName } from "../../src/double/Double.ts"
import { assert, describe, it } from "vitest"
import { call, start } from "./support/Doubles.ts"

const MACHINES = 4
const ORDERS: ReadonlyArray<readonly [FaultName, number]> = [
  ["machine_lost", 1],
  ["exit_unreported", 2],
  ["stop_retries", 1],
  ["stop_retries", 2],
  ["log_flood", 1]
]

describe("A fault that is ordered for a number of times", { timeout: 300_000 }, () => {
  it.each(ORDERS)("strikes so often: %s, %i", async (name, times) => {
    const sluice = await start({ seed: 2 })
    const fault = sluice.fault(name, { times })
    for (let i = 0; i < MACHINES; i++) {
      const job = { command: "sleep 3h", gpu_type: "H100", max_runtime_minutes: 150 + 60 * (i % 2) }
      assert.strictEqual((await call(sluice, "POST", "/api/v1/jobs", job)).status, 201)
    }
    await sluice.advance("5 hours")
    assert.strictEqual(fault.struck, times)
  })
})
