/** For any sequence of events a job keeps its invariants (interface: Job status). */
import { assert, describe, it } from "@effect/vitest"
import type { statusReasons } from "@sluice/domain/jobs/Job"
import { isTerminal } from "@sluice/domain/jobs/Job"
import { decide, type JobFunds, type JobState, type JobTerms } from "@sluice/domain/jobs/JobLifecycle"
import type { MachineState } from "@sluice/domain/machines/MachineProvider"
import * as Machine from "@sluice/domain/machines/MachineLifecycle"
import fc from "fast-check"

const MINUTE = 60_000
const T0 = 1_800_000_000_000

const queued: JobState = {
  status: "queued",
  startedAt: null,
  endedAt: null,
  stop: null,
  exitCode: null,
  error: null,
  statusReason: null
}
const wanted: Machine.MachineFacts = Machine.wantedFacts(T0)

type Event =
  | { readonly _tag: "Pass"; readonly ms: number }
  | { readonly _tag: "Cancel" }
  | { readonly _tag: "Instance" }
  | { readonly _tag: "Budget" }
  | { readonly _tag: "Launching" | "Setup" | "Start" | "Absent" | "NoCapacity" | "Refuse" | "Lose" | "Gone" }
  | { readonly _tag: "Exit"; readonly code: number; readonly ago: number }
  | { readonly _tag: "Kill" }
  | { readonly _tag: "Timeout" }
  | { readonly _tag: "Money"; readonly more: number }

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ _tag: fc.constant("Pass" as const), ms: fc.integer({ min: 0, max: 20 * MINUTE }) }),
  fc.record({
    _tag: fc.constantFrom(
      "Cancel",
      "Instance",
      "Budget",
      "Launching",
      "Setup",
      "Start",
      "Absent",
      "NoCapacity",
      "Refuse",
      "Lose",
      "Gone",
      "Kill",
      "Timeout"
    )
  }) as fc.Arbitrary<Event>,
  fc.record({
    _tag: fc.constant("Exit" as const),
    code: fc.integer({ min: 0, max: 255 }),
    ago: fc.integer({ min: 0, max: 3 * MINUTE })
  }),
  fc.record({ _tag: fc.constant("Money" as const), more: fc.integer({ min: 0, max: 1_000_000 }) })
)

interface World {
  now: number
  job: JobState
  machine: Machine.MachineFacts
  funds: JobFunds
  /** The news of a provider: it never withdraws that a command started or exited. */
  since: number | null
  started: number | null
  exit: Machine.CommandExit | null
}

/** The columns that the statements set to stop a machine (`stopAsked` of database/ReconciledStore.ts). */
const stopAsked = (facts: Machine.MachineFacts, now: number): Machine.MachineFacts =>
  Machine.isGone(facts)
    ? facts
    : {
        ...facts,
        stopRequestedAt: facts.stopRequestedAt ?? now,
        status: facts.status === "running" ? "stopping" : facts.status
      }

const stateOf = (world: World): MachineState => {
  const command =
    world.exit !== null && world.started !== null
      ? {
          _tag: "Exited" as const,
          startedAt: world.started,
          exitedAt: world.exit.at,
          code: world.exit.code,
          why: world.exit.why
        }
      : world.started !== null
        ? { _tag: "Started" as const, startedAt: world.started }
        : { _tag: "Pending" as const }
  return { _tag: "Running", since: world.since ?? world.now, command }
}

const observe = (world: World, state: MachineState) => {
  const { absentSince } = world.machine
  const absentMs = absentSince === null ? 0 : world.now - absentSince
  world.machine = Machine.afterObservation(world.machine, state, { now: world.now, absentMs, visibleWithinMs: 0 })
}

const ask = (world: World, reason: JobState["stop"] extends infer _ ? (typeof statusReasons)[number] : never) => {
  if (isTerminal(world.job.status) || world.job.stop !== null) return
  world.job = { ...world.job, stop: { reason, at: world.now } }
  world.machine = stopAsked(world.machine, world.now)
}

const apply = (world: World, step: Event) => {
  const live = !Machine.isGone(world.machine)
  switch (step._tag) {
    case "Pass":
      world.now += step.ms
      return
    case "Cancel":
      return ask(world, "cancelled_by_user")
    case "Instance":
      return ask(world, "instance_stopped")
    case "Budget":
      return ask(world, "budget_reached")
    case "Money":
      world.funds = { hold: world.funds.hold + BigInt(step.more), exhausted: step.more === 0 }
      return
    case "NoCapacity":
      if (live) world.machine = Machine.afterNoCapacity(world.machine)
      return
    case "Refuse":
      if (world.since === null) world.machine = Machine.afterRefusal(world.machine, world.now, "no")
      return
    case "Launching":
      if (world.since === null) observe(world, { _tag: "Launching" })
      return
    case "Absent":
      return observe(world, { _tag: "Absent" })
    case "Lose":
      return observe(world, { _tag: "Lost", since: world.since, lostAt: world.now, reason: "host gone" })
    case "Gone": {
      const running = stateOf(world)
      const command = running._tag === "Running" ? running.command : { _tag: "Pending" as const }
      return observe(world, { _tag: "Stopped", since: world.since, stoppedAt: world.now, command, volumeBytes: null })
    }
    case "Setup":
    case "Start":
    case "Exit":
    case "Kill":
    case "Timeout": {
      if (!live) return
      world.since ??= world.now
      if (step._tag !== "Setup") world.started ??= world.now
      if (world.started !== null && world.exit === null) {
        if (step._tag === "Exit") {
          world.exit = { at: Math.max(world.started, world.now - step.ago), code: step.code, why: "exit" }
        }
        if (step._tag === "Kill") world.exit = { at: world.now, code: null, why: "stopped" }
        if (step._tag === "Timeout") world.exit = { at: world.now, code: null, why: "timeout" }
      }
      return observe(world, stateOf(world))
    }
  }
}

const check = (before: JobState, world: World, terms: JobTerms) => {
  const decision = decide(before, world.machine, terms, world.funds, world.now)
  const after = decision.state
  if (isTerminal(before.status)) assert.deepStrictEqual(after, before)
  if (before.startedAt !== null) assert.strictEqual(after.startedAt, before.startedAt)
  if (before.stop !== null) assert.deepStrictEqual(after.stop, before.stop)
  const order = ["queued", "starting", "running"]
  if (!isTerminal(after.status)) assert.isAtLeast(order.indexOf(after.status), order.indexOf(before.status))
  assert.strictEqual(after.endedAt !== null, isTerminal(after.status))
  if (isTerminal(after.status)) assert.isTrue(Machine.isGone(world.machine), "terminal only when the machine is gone")
  if (after.exitCode !== null) {
    assert.strictEqual(world.exit?.why, "exit")
    assert.strictEqual(after.exitCode, world.exit?.code)
    assert.isTrue(
      after.stop === null || world.exit!.at <= after.stop.at,
      "an exit after the stop is not the command's own"
    )
  }
  if (after.status === "succeeded") assert.strictEqual(after.exitCode, 0)
  if (after.status === "failed") assert.isTrue(after.exitCode !== null ? after.exitCode !== 0 : after.error !== null)
  if (after.status === "cancelled") assert.include(["cancelled_by_user", "instance_stopped"], after.statusReason)
  if (after.status === "timed_out") assert.strictEqual(after.statusReason, "max_runtime")
  if (after.status === "running") assert.isNotNull(after.startedAt)
  if (decision.settle !== null) assert.isTrue(isTerminal(after.status) && decision.settle >= 0n)
  if (!isTerminal(after.status) && !decision.needsFunds)
    assert.isAbove(decision.wakeAt, world.now, "never a loop that spins")
  return decision
}

const play = (events: ReadonlyArray<Event>, terms: JobTerms): World => {
  const world: World = {
    now: T0,
    job: queued,
    machine: wanted,
    funds: { hold: 10_000_000n, exhausted: false },
    since: null,
    started: null,
    exit: null
  }
  for (const step of events) {
    apply(world, step)
    const decision = check(world.job, world, terms)
    world.job = decision.state
    if (decision.stopMachine) world.machine = stopAsked(world.machine, world.now)
    if (decision.needsFunds) world.funds = { ...world.funds, exhausted: true }
  }
  return world
}

const terms: JobTerms = {
  createdAt: T0,
  maxRuntimeMs: 30 * MINUTE,
  capacityWaitMs: 10 * MINUTE,
  price: 12_000_000n,
  maxCost: 9_000_000n
}

describe("JobLifecycle", () => {
  it("keeps its invariants for any sequence of events", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => void play(events, terms)),
      { numRuns: 3_000 }
    )
  })

  it("ends after its machine is gone, for any events", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const world = play([...events, { _tag: "Gone" }, { _tag: "Pass", ms: 1 }], terms)
        assert.isTrue(isTerminal(world.job.status))
      }),
      { numRuns: 1_000 }
    )
  })

  it("stops at the earliest of its limits", () => {
    const running = play([{ _tag: "Start" }], { ...terms, maxCost: null })
    const far = { ...running.funds, hold: 1_000_000_000n }
    const at = (ms: number) => decide(running.job, running.machine, { ...terms, maxCost: null }, far, T0 + ms)
    assert.isFalse(at(30 * MINUTE - 1).stopMachine)
    assert.strictEqual(at(30 * MINUTE - 1).wakeAt, T0 + 30 * MINUTE)
    assert.deepStrictEqual(at(30 * MINUTE).state.stop, { reason: "max_runtime", at: T0 + 30 * MINUTE })
    // A server that was down at the moment computes the same moment.
    assert.deepStrictEqual(at(300 * MINUTE).state.stop, { reason: "max_runtime", at: T0 + 30 * MINUTE })
    // 12 milli-USD an hour: 3 milli-USD pay for 15 minutes.
    const ceiling = decide(running.job, running.machine, { ...terms, maxCost: 3_000_000n }, far, T0 + 60 * MINUTE)
    assert.deepStrictEqual(ceiling.state.stop, { reason: "cost_ceiling", at: T0 + 15 * MINUTE })
  })

  it("waits for capacity no longer than requested", () => {
    const decision = decide(
      queued,
      { ...wanted, requestedAt: null },
      terms,
      { hold: 1n, exhausted: false },
      T0 + 10 * MINUTE
    )
    assert.strictEqual(decision.state.stop?.reason, "no_capacity")
    const now = T0 + 10 * MINUTE
    const look = { now, absentMs: 0, visibleWithinMs: 0 }
    const stopping = stopAsked({ ...wanted, requestedAt: null }, now)
    assert.isNull(decide(decision.state, stopping, terms, { hold: 1n, exhausted: false }, now).settle)
    const gone = Machine.afterObservation(stopping, { _tag: "Absent" }, look)
    const end = decide(decision.state, gone, terms, { hold: 1n, exhausted: false }, T0 + 10 * MINUTE)
    assert.strictEqual(end.state.status, "failed")
    assert.strictEqual(end.state.statusReason, "no_capacity")
    assert.strictEqual(end.settle, 0n)
  })
})
