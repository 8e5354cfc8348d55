/** What a job's row says to callers of the machine behind it. */
import { jobOf, type JobWithMachineRow } from "@sluice/domain/jobs/JobRow"
import { wantedFacts, type MachineFacts } from "@sluice/domain/machines/MachineLifecycle"
import { factTexts } from "@sluice/domain/machines/MachineRow"
import { assert, describe, it } from "@effect/vitest"

const rowOf = (facts: Partial<MachineFacts>): JobWithMachineRow =>
  ({
    status: "queued",
    price: 1n,
    machine: { ...factTexts({ ...wantedFacts(1), requestedAt: null, ...facts }), output_bytes: 0 }
  }) as unknown as JobWithMachineRow

describe("a job's machine", () => {
  const exists = (facts: Partial<MachineFacts>) => jobOf(rowOf(facts), 10).machineExists

  it("is told once it was asked for with success, and stays told", () => {
    assert.isTrue(exists({ status: "launching", requestedAt: 1 }))
    assert.isTrue(exists({ status: "running", requestedAt: 1, runningAt: 2 }))
    assert.isTrue(exists({ status: "failed", requestedAt: 1, runningAt: 2 }))
    assert.isTrue(exists({ status: "stopped", requestedAt: 1 }))
  })

  it("is not told where it only waited or was refused", () => {
    assert.isFalse(exists({ status: "wanted" }))
    assert.isFalse(exists({ status: "wanted", requestedAt: 1 }))
    assert.isFalse(exists({ status: "stopped" }))
    assert.isFalse(exists({ status: "failed", requestedAt: 1 }))
  })
})
