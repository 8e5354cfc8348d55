/**
 * The life of a machine, as pure rules: the facts after an observation, and the next action.
 *
 * Facts only grow. `runningAt`, the command's start and its exit are set once. `stopped` and `failed` never change, and
 * are set only when the provider confirms that the machine is gone. A machine stops when its command exits.
 */
import type { NanoUsd } from "../billing/Money.ts"
import { costOf } from "../billing/Money.ts"
import type { CommandState, MachineState } from "./MachineProvider.ts"
import type { MachineStatus } from "./Machine.ts"

/**
 * Time for which the provider may not know a machine that ran, before the machine counts as lost (ms). A lower value
 * loses machines when the provider's view is stale for a moment; a higher one delays the end of their jobs.
 */
export const LOST_AFTER_MS = 60_000

export const exitCauses = ["exit", "timeout", "stopped"] as const

export interface CommandExit {
  readonly at: number
  readonly code: number | null
  readonly why: (typeof exitCauses)[number]
}

/** All times are Unix milliseconds. */
export interface MachineFacts {
  readonly status: MachineStatus
  /** The time of the last launch request of a machine that has not run yet; null: no launch is outstanding. */
  readonly requestedAt: number | null
  readonly runningAt: number | null
  readonly commandStartedAt: number | null
  readonly exit: CommandExit | null
  readonly stopRequestedAt: number | null
  readonly stoppedAt: number | null
  /** The time since which the provider does not know a machine whose launch was requested. */
  readonly absentSince: number | null
  /** The reason of a failure, for people; null without one. */
  readonly failure: string | null
}

/** Returns the facts of a machine whose launch was requested at `requestedAt`. */
export const wantedFacts = (requestedAt: number): MachineFacts => ({
  status: "wanted",
  requestedAt,
  runningAt: null,
  commandStartedAt: null,
  exit: null,
  stopRequestedAt: null,
  stoppedAt: null,
  absentSince: null,
  failure: null
})

/** The reconciler's next action. `Settled`: the machine is gone, and needs none. */
export type Action =
  | { readonly _tag: "Launch" }
  | { readonly _tag: "Stop" }
  | { readonly _tag: "Observe" }
  | { readonly _tag: "Settled" }

export const isGone = (facts: Pick<MachineFacts, "status">): boolean =>
  facts.status === "stopped" || facts.status === "failed"

/** Returns the cost of the machine until `now` (nano-USD); null before it runs. */
export const costAt = (
  price: NanoUsd,
  machine: Pick<MachineFacts, "runningAt" | "stoppedAt">,
  now: number
): NanoUsd | null => (machine.runningAt === null ? null : costOf(price, (machine.stoppedAt ?? now) - machine.runningAt))

export const nextAction = (facts: MachineFacts): Action => {
  if (isGone(facts)) return { _tag: "Settled" }
  if (facts.stopRequestedAt !== null) return { _tag: "Stop" }
  return { _tag: facts.status === "wanted" ? "Launch" : "Observe" }
}

const endedFacts = (facts: MachineFacts, at: number, failure: string | null): MachineFacts => ({
  ...facts,
  status: failure !== null && facts.runningAt === null ? "failed" : "stopped",
  requestedAt: null,
  stoppedAt: Math.max(at, facts.runningAt ?? at),
  failure: facts.failure ?? failure
})

/** Returns the facts after the provider refused to launch the machine for good. */
export const afterRefusal = (facts: MachineFacts, now: number, reason: string): MachineFacts =>
  isGone(facts) ? facts : { ...endedFacts(facts, now, reason), status: "failed" }

/**
 * Returns the facts after the provider had no capacity: no launch is outstanding, and a later step requests it again.
 */
export const afterNoCapacity = (facts: MachineFacts): MachineFacts =>
  facts.status === "wanted" ? { ...facts, requestedAt: null } : facts

const withCommand = (facts: MachineFacts, command: CommandState): MachineFacts => {
  if (command._tag === "Pending") return facts
  const commandStartedAt = facts.commandStartedAt ?? command.startedAt
  if (command._tag === "Started") return { ...facts, commandStartedAt }
  const exit = facts.exit ?? { at: command.exitedAt, code: command.code, why: command.why }
  return { ...facts, commandStartedAt, exit }
}

/** The times of an observation. */
export interface Look {
  /** The wall clock, Unix milliseconds; it may jump. */
  readonly now: number
  /** Time for which the machine has been absent without a break, on the monotonic clock (ms). */
  readonly absentMs: number
  /** Time after a launch request for which the machine may be invisible (ms). */
  readonly visibleWithinMs: number
}

const absent = (facts: MachineFacts, { now, absentMs, visibleWithinMs }: Look): MachineFacts => {
  const absentSince = facts.absentSince ?? now
  const missing = { ...facts, absentSince }
  if (facts.runningAt === null) {
    // The stop is requested, and an outstanding launch would be visible by now: the machine never existed.
    const neverExisted = facts.requestedAt === null || absentMs >= visibleWithinMs
    return facts.stopRequestedAt !== null && neverExisted ? endedFacts(facts, now, null) : missing
  }
  if (facts.stopRequestedAt !== null) return endedFacts(facts, absentSince, null)
  return absentMs >= LOST_AFTER_MS
    ? endedFacts(facts, absentSince, "the provider no longer knows the machine")
    : missing
}

/** Returns the facts after an observation. */
export const afterObservation = (facts: MachineFacts, state: MachineState, look: Look): MachineFacts => {
  if (isGone(facts)) return facts
  const { now } = look
  switch (state._tag) {
    case "Absent":
      return absent(facts, look)
    case "Launching":
      return {
        ...facts,
        status: facts.status === "wanted" ? "launching" : facts.status,
        absentSince: null
      }
    case "Running": {
      const running = withCommand(
        { ...facts, requestedAt: null, absentSince: null, runningAt: facts.runningAt ?? state.since },
        state.command
      )
      const stop = running.stopRequestedAt ?? (running.exit === null ? null : now)
      return { ...running, stopRequestedAt: stop, status: stop === null ? "running" : "stopping" }
    }
    case "Stopped":
      return endedFacts(
        withCommand({ ...facts, runningAt: facts.runningAt ?? state.since }, state.command),
        state.stoppedAt,
        null
      )
    case "Lost":
      return endedFacts({ ...facts, runningAt: facts.runningAt ?? state.since }, state.lostAt, state.reason)
  }
}
