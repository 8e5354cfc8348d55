/** The machine of a job, as the job's row shows it to callers. */
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

  it("is shown after a successful launch request, and stays shown", () => {
    assert.isTrue(exists({ status: "launching", requestedAt: 1 }))
    assert.isTrue(exists({ status: "running", requestedAt: 1, runningAt: 2 }))
    assert.isTrue(exists({ status: "failed", requestedAt: 1, runningAt: 2 }))
    assert.isTrue(exists({ status: "stopped", requestedAt: 1 }))
  })

  it("is not shown while it waits, or after a refusal", () => {
    assert.isFalse(exists({ status: "wanted" }))
    assert.isFalse(exists({ status: "wanted", requestedAt: 1 }))
    assert.isFalse(exists({ status: "stopped" }))
    assert.isFalse(exists({ status: "failed", requestedAt: 1 }))
  })
})
