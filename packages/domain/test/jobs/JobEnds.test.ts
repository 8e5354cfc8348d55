/** Stops and ends of a job, with several causes at once (interface: Job status; decisions: Jobs). */
import { assert, describe, it } from "@effect/vitest"
import type { StatusReason } from "@sluice/domain/jobs/Job"
import { decide, type JobState, type JobTerms, START_LIMIT_MS } from "@sluice/domain/jobs/JobLifecycle"
import { wantedFacts, type CommandExit, type MachineFacts } from "@sluice/domain/machines/MachineLifecycle"

const MINUTE = 60_000
const T0 = 1_800_000_000_000
/** The machine runs, and the command starts. */
const RAN = T0 + 4 * MINUTE
const STARTED = T0 + 7 * MINUTE

const queued: JobState = {
  status: "queued",
  startedAt: null,
  endedAt: null,
  stop: null,
  exitCode: null,
  error: null,
  statusReason: null
}
const running: JobState = { ...queued, status: "running", startedAt: STARTED }
const terms: JobTerms = {
  createdAt: T0,
  maxRuntimeMs: 30 * MINUTE,
  capacityWaitMs: 10 * MINUTE,
  price: 60_000_000n,
  maxCost: null
}
const wanted = { ...wantedFacts(T0), requestedAt: null }
const launching: MachineFacts = { ...wantedFacts(T0), status: "launching" }
const up: MachineFacts = { ...wanted, status: "running", runningAt: RAN, commandStartedAt: STARTED }
const plenty = { hold: 1_000_000_000n, exhausted: false }

describe("A job stops at the moment of its limit, and not before", () => {
  // A minute of the machine costs 1_000_000.
  const cases: ReadonlyArray<readonly [StatusReason, number, MachineFacts, Partial<JobTerms>, typeof plenty]> = [
    ["no_capacity", T0 + 10 * MINUTE, wanted, {}, plenty],
    ["launch_failed", T0 + 10 * MINUTE + START_LIMIT_MS, launching, {}, plenty],
    ["launch_failed", T0 + 10 * MINUTE + START_LIMIT_MS, { ...up, commandStartedAt: null }, {}, plenty],
    ["max_runtime", STARTED + 30 * MINUTE, up, {}, plenty],
    ["cost_ceiling", RAN + 5 * MINUTE, up, { maxCost: 5_000_000n }, plenty],
    ["balance_exhausted", RAN + 6 * MINUTE, up, {}, { hold: 6_000_000n, exhausted: true }]
  ]
  for (const [reason, at, machine, more, funds] of cases) {
    it(`${reason}, the machine ${machine.status}`, () => {
      const decideAt = (now: number) => decide(queued, machine, { ...terms, ...more }, funds, now)
      const before = decideAt(at - 1)
      assert.deepStrictEqual([before.state.stop, before.stopMachine, before.wakeAt], [null, false, at])
      assert.deepStrictEqual(decideAt(at).state.stop, { reason, at })
      assert.isTrue(decideAt(at).stopMachine)
    })
  }

  it("asks for more money before it stops, where more may be available", () => {
    const { needsFunds, state } = decide(running, up, terms, { ...plenty, hold: 6_000_000n }, RAN + 6 * MINUTE)
    assert.deepStrictEqual([needsFunds, state.stop], [true, null])
  })
})

describe("A job ends by its first cause", () => {
  const STOP = STARTED + 5 * MINUTE
  const GONE = STOP + MINUTE
  const end = (machine: Partial<MachineFacts>, reason: StatusReason | null, job = running) => {
    const facts: MachineFacts = { ...up, status: "stopped", stoppedAt: GONE, ...machine }
    const stop = reason === null ? null : { reason, at: STOP }
    const { settle, state } = decide({ ...job, stop }, facts, terms, plenty, GONE + MINUTE)
    assert.deepStrictEqual([state.endedAt, state.stop], [GONE, stop])
    assert.strictEqual(settle, facts.runningAt === null ? 0n : (BigInt(GONE - RAN) * 1_000_000n) / BigInt(MINUTE))
    return [state.status, state.statusReason, state.exitCode]
  }
  const exit = (why: CommandExit["why"], at: number, code: number | null = null) => ({ exit: { why, at, code } })

  it("the command's own exit, up to the moment of the stop", () => {
    assert.deepStrictEqual(end(exit("exit", STOP, 0), "cancelled_by_user"), ["succeeded", null, 0])
    assert.deepStrictEqual(end(exit("exit", STOP, 3), "budget_reached"), ["failed", null, 3])
    assert.deepStrictEqual(end(exit("exit", STOP + 1, 0), "instance_stopped"), ["cancelled", "instance_stopped", null])
    assert.deepStrictEqual(end(exit("exit", STOP + 1, 0), "budget_reached"), ["failed", "budget_reached", null])
  })

  it("the provider's own time limit, up to the moment of the stop", () => {
    assert.deepStrictEqual(end(exit("timeout", STOP), "cancelled_by_user"), ["timed_out", "max_runtime", null])
    assert.deepStrictEqual(end(exit("timeout", STOP + 1), "cancelled_by_user"), [
      "cancelled",
      "cancelled_by_user",
      null
    ])
  })

  it("the loss of the machine, without another cause", () => {
    const failure = "host gone"
    assert.deepStrictEqual(end({ failure }, null), ["failed", "machine_lost", null])
    assert.deepStrictEqual(end({ failure }, "max_runtime"), ["timed_out", "max_runtime", null])
    // The machine ran and was billed: it did not fail to launch, although no command started.
    assert.deepStrictEqual(end({ failure, commandStartedAt: null }, null, queued), ["failed", "machine_lost", null])
    const never = { failure, runningAt: null, commandStartedAt: null }
    assert.deepStrictEqual(end(never, null, queued), ["failed", "launch_failed", null])
  })
})
