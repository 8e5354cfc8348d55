/** Statements and rules agree on which rows have ended. */
import { assert, describe, it } from "@effect/vitest"
import { ENDED, GONE } from "@sluice/domain/database/ReconciledStore"
import { terminalStatuses } from "@sluice/domain/jobs/Job"
import { machineStatuses } from "@sluice/domain/machines/Machine"
import { isGone } from "@sluice/domain/machines/MachineLifecycle"

const list = (states: ReadonlyArray<string>) => `(${states.map((state) => `'${state}'`).join(", ")})`

describe("Statements", () => {
  it("take those states for the end that the rules take for it", () => {
    assert.strictEqual(ENDED, list(terminalStatuses))
    assert.strictEqual(GONE, list(machineStatuses.filter((status) => isGone({ status }))))
  })
})
