/** Failed observations of a machine: it counts as gone after elapsed time, not after a step of a clock. */
import { assert, describe, it } from "@effect/vitest"
import { MissingSince } from "@sluice/domain/machines/MissingSince"
import * as Machine from "@sluice/domain/machines/MachineLifecycle"
import type { CommandState } from "@sluice/domain/machines/MachineProvider"
import fc from "fast-check"

const T0 = 1_800_000_000_000
const VISIBLE_WITHIN_MS = 30_000
const asked: Machine.MachineFacts = Machine.wantedFacts(T0)
const ran: Machine.MachineFacts = { ...asked, status: "running", requestedAt: null, runningAt: T0 }

/** Elapsed time, and the extra steps of the wall clock. */
const gap = fc.record({
  ms: fc.integer({ min: 0, max: 20_000 }),
  jumpMs: fc.oneof(fc.constant(0), fc.integer({ min: -3_600_000, max: 3_600_000 }))
})

/** Observes an absent machine after each gap; returns the absence after which it counted as gone. */
const goneAfter = (
  facts: Machine.MachineFacts,
  gaps: ReadonlyArray<typeof gap extends fc.Arbitrary<infer G> ? G : never>
) => {
  let passed = 0
  let jumped = 0
  const absences = new MissingSince(() => passed)
  let current = facts
  let first: number | undefined
  for (const { ms, jumpMs } of gaps) {
    passed += ms
    jumped += jumpMs
    first ??= passed
    const now = T0 + passed + jumped
    const absentMs = absences.missingMs("m", current.absentSince ?? now)
    const look = { now, absentMs, visibleWithinMs: VISIBLE_WITHIN_MS }
    current = Machine.afterObservation(current, { _tag: "Absent" }, look)
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

  it("is gone at once when it ran and must stop; is awaited when it never ran and is not stopped", () => {
    const look = { now: T0 + 5, absentMs: 0, visibleWithinMs: VISIBLE_WITHIN_MS }
    assert.strictEqual(
      Machine.afterObservation({ ...ran, stopRequestedAt: T0 }, { _tag: "Absent" }, look).status,
      "stopped"
    )
    const wanted = Machine.afterObservation(asked, { _tag: "Absent" }, { ...look, absentMs: 3_600_000 })
    assert.deepStrictEqual(wanted, { ...asked, absentSince: T0 + 5 })
    const none = { ...asked, requestedAt: null, stopRequestedAt: T0 }
    assert.strictEqual(Machine.afterObservation(none, { _tag: "Absent" }, look).status, "stopped")
  })
})

describe("MissingSince", () => {
  it("counts from the first failed observation, and anew after the machine was found or another replica saw it", () => {
    let now = 100
    const absences = new MissingSince(() => now)
    assert.strictEqual(absences.missingMs("a", T0), 0)
    now = 150
    assert.strictEqual(absences.missingMs("a", T0), 50)
    assert.strictEqual(absences.missingMs("a", T0 + 7), 0)
    now = 170
    assert.strictEqual(absences.missingMs("a", T0 + 7), 20)
    absences.forget("a")
    assert.strictEqual(absences.missingMs("a", T0 + 7), 0)
  })

  it("keeps at most its bound of machines: the one with the oldest absence is counted anew", () => {
    let now = 0
    const absences = new MissingSince(() => now, 2)
    for (const key of ["a", "b", "c"]) absences.missingMs(key, T0)
    now = 10
    assert.deepStrictEqual(
      ["b", "c", "a"].map((key) => absences.missingMs(key, T0)),
      [10, 10, 0]
    )
  })
})

describe("Recorded facts of a machine", () => {
  const at = (now: number, absentMs = 0) => ({ now, absentMs, visibleWithinMs: VISIBLE_WITHIN_MS })
  const running = (since: number, command: CommandState = { _tag: "Pending" }) => ({
    _tag: "Running" as const,
    since,
    command
  })

  it("bill it until the first failed observation, not for the time of the search", () => {
    const lost = { ...ran, absentSince: T0 + 5_000 }
    const gone = Machine.afterObservation(lost, { _tag: "Absent" }, at(T0 + 65_000, Machine.LOST_AFTER_MS))
    assert.deepInclude(gone, { status: "stopped", stoppedAt: T0 + 5_000 })
    const stopping = { ...lost, status: "stopping" as const, stopRequestedAt: T0 + 4_000 }
    assert.strictEqual(Machine.afterObservation(stopping, { _tag: "Absent" }, at(T0 + 9_000)).stoppedAt, T0 + 5_000)
    // Found again, it counts as never absent.
    assert.isNull(Machine.afterObservation(lost, running(T0), at(T0 + 6_000)).absentSince)
  })

  it("set once: when it ran, when its command began and how the command ended", () => {
    const exited = (ms: number, code: number): CommandState => ({
      _tag: "Exited",
      startedAt: T0 + ms,
      exitedAt: T0 + 2 * ms,
      code,
      why: "exit"
    })
    const first = Machine.afterObservation(asked, running(T0, exited(10, 0)), at(T0 + 30))
    const facts = { runningAt: T0, commandStartedAt: T0 + 10, exit: { at: T0 + 20, code: 0, why: "exit" as const } }
    assert.deepInclude(first, { ...facts, status: "stopping", stopRequestedAt: T0 + 30, requestedAt: null })
    const again = Machine.afterObservation(first, running(T0 + 1, exited(11, 1)), at(T0 + 40))
    assert.deepStrictEqual(again, first)
    const stopped = { _tag: "Stopped" as const, since: T0 + 1, command: exited(11, 1), volumeBytes: null }
    const gone = Machine.afterObservation(first, { ...stopped, stoppedAt: T0 + 50 }, at(T0 + 60))
    assert.deepStrictEqual(gone, { ...first, status: "stopped", stoppedAt: T0 + 50 })
    assert.strictEqual(Machine.afterObservation(gone, { ...stopped, stoppedAt: T0 + 70 }, at(T0 + 80)), gone)
    assert.strictEqual(Machine.afterRefusal(gone, T0 + 80, "no"), gone)
  })

  it("never show an end before the start, and a failure only for a machine that never ran", () => {
    const lost = (since: number | null) =>
      Machine.afterObservation(asked, { _tag: "Lost", since, lostAt: T0 + 10, reason: "host gone" }, at(T0 + 20))
    assert.deepInclude(lost(T0 + 15), {
      status: "stopped",
      runningAt: T0 + 15,
      stoppedAt: T0 + 15,
      failure: "host gone"
    })
    assert.deepInclude(lost(null), { status: "failed", runningAt: null, stoppedAt: T0 + 10, failure: "host gone" })
    const launching = Machine.afterObservation(asked, { _tag: "Launching" }, at(T0))
    assert.strictEqual(launching.status, "launching")
    // A stopping machine does not go back.
    assert.deepStrictEqual(
      Machine.afterObservation({ ...ran, status: "stopping" }, { _tag: "Launching" }, at(T0)).status,
      "stopping"
    )
  })
})
