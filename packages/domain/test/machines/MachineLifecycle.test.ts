/** What looks in vain say of a machine: gone is believed after time that passed, not after a clock that was set ahead. */
import { assert, describe, it } from "@effect/vitest"
import { Absences } from "@sluice/domain/machines/Absences"
import * as Machine from "@sluice/domain/machines/MachineLifecycle"
import fc from "fast-check"

const T0 = 1_800_000_000_000
const VISIBLE_WITHIN_MS = 30_000
const asked: Machine.MachineFacts = Machine.asked(T0)
const ran: Machine.MachineFacts = { ...asked, status: "running", requestedAt: null, runningAt: T0 }

/** Time that passes, and what the wall clock does on top. */
const gap = fc.record({
  ms: fc.integer({ min: 0, max: 20_000 }),
  jumpMs: fc.oneof(fc.constant(0), fc.integer({ min: -3_600_000, max: 3_600_000 }))
})

/** Looks at an absent machine after each gap; answers how long it had been absent when it counted as gone. */
const goneAfter = (
  facts: Machine.MachineFacts,
  gaps: ReadonlyArray<typeof gap extends fc.Arbitrary<infer G> ? G : never>
) => {
  let passed = 0
  let jumped = 0
  const absences = new Absences(() => passed)
  let current = facts
  let first: number | undefined
  for (const { ms, jumpMs } of gaps) {
    passed += ms
    jumped += jumpMs
    first ??= passed
    const now = T0 + passed + jumped
    const absentMs = absences.missing("m", current.absentSince ?? now)
    const look = { now, absentMs, visibleWithinMs: VISIBLE_WITHIN_MS }
    current = Machine.observed(current, { _tag: "Absent" }, look)
    if (Machine.isGone(current)) return { absentMs: passed - first, facts: current }
  }
  return { absentMs: passed - (first ?? passed), facts: current }
}

describe("MachineLifecycle: a machine that is not there", () => {
  const cases = [
    ["one that was asked for and is to stop", { ...asked, stopRequestedAt: T0 }, VISIBLE_WITHIN_MS, null],
    ["one that ran", ran, Machine.LOST_AFTER_MS, "the provider no longer knows the machine"]
  ] as const
  for (const [name, facts, boundMs, failure] of cases) {
    it(`${name} is gone when it has been absent for its bound, whatever the wall clock does`, () => {
      fc.assert(
        fc.property(fc.array(gap, { maxLength: 12 }), (gaps) => {
          const { absentMs, facts: after } = goneAfter(facts, gaps)
          assert.strictEqual(Machine.isGone(after), absentMs >= boundMs)
          if (Machine.isGone(after)) assert.strictEqual(after.failure, failure)
        })
      )
    })
  }

  it("one that ran and is to stop is gone at the first look in vain; one that nobody stops and never ran is waited for", () => {
    const look = { now: T0 + 5, absentMs: 0, visibleWithinMs: VISIBLE_WITHIN_MS }
    assert.strictEqual(Machine.observed({ ...ran, stopRequestedAt: T0 }, { _tag: "Absent" }, look).status, "stopped")
    const wanted = Machine.observed(asked, { _tag: "Absent" }, { ...look, absentMs: 3_600_000 })
    assert.deepStrictEqual(wanted, { ...asked, absentSince: T0 + 5 })
    const none = { ...asked, requestedAt: null, stopRequestedAt: T0 }
    assert.strictEqual(Machine.observed(none, { _tag: "Absent" }, look).status, "stopped")
  })
})

describe("Absences", () => {
  it("counts from the first look of an absence, and anew when it was found or another replica saw it in between", () => {
    let now = 100
    const absences = new Absences(() => now)
    assert.strictEqual(absences.missing("a", T0), 0)
    now = 150
    assert.strictEqual(absences.missing("a", T0), 50)
    assert.strictEqual(absences.missing("a", T0 + 7), 0)
    now = 170
    assert.strictEqual(absences.missing("a", T0 + 7), 20)
    absences.found("a")
    assert.strictEqual(absences.missing("a", T0 + 7), 0)
  })

  it("keeps no more than its bound: who was counted for longest counts again", () => {
    let now = 0
    const absences = new Absences(() => now, 2)
    for (const key of ["a", "b", "c"]) absences.missing(key, T0)
    now = 10
    assert.deepStrictEqual(
      ["b", "c", "a"].map((key) => absences.missing(key, T0)),
      [10, 10, 0]
    )
  })
})
