/**
 * The life of a machine, as pure rules: what an observation adds to what is known, and what is to be done next.
 *
 * Facts only grow: `runningAt`, the command's start and its exit are set once; `stopped` and `failed` never change and are
 * said only when the provider confirms that the machine is gone. A machine stops when its command exits.
 */
import type { NanoUsd } from "../billing/Money.ts"
import { costOf } from "../billing/Money.ts"
import type { CommandState, MachineState } from "./MachineProvider.ts"
import type { MachineStatus } from "./Machine.ts"

/** How long a machine that ran may be unknown to its provider before it counts as lost. */
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
  /** When a launch was last asked for of a machine that was not seen to run; null: none is outstanding. */
  readonly requestedAt: number | null
  readonly runningAt: number | null
  readonly commandStartedAt: number | null
  readonly exit: CommandExit | null
  readonly stopRequestedAt: number | null
  readonly stoppedAt: number | null
  /** Since when the provider does not know a machine that was asked for. */
  readonly absentSince: number | null
  /** Why it failed, for people; null when it did not. */
  readonly failure: string | null
}

/** Of a machine that is wanted, and whose launch was asked for at `requestedAt`. */
export const asked = (requestedAt: number): MachineFacts => ({
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

/** What the reconciler does next. `Settled`: nothing, ever. */
export type Action =
  | { readonly _tag: "Launch" }
  | { readonly _tag: "Stop" }
  | { readonly _tag: "Observe" }
  | { readonly _tag: "Settled" }

export const isGone = (facts: Pick<MachineFacts, "status">): boolean =>
  facts.status === "stopped" || facts.status === "failed"

/** What the machine cost up to `now`; null before it runs. */
export const costAt = (
  price: NanoUsd,
  machine: Pick<MachineFacts, "runningAt" | "stoppedAt">,
  now: number
): NanoUsd | null => (machine.runningAt === null ? null : costOf(price, (machine.stoppedAt ?? now) - machine.runningAt))

export const next = (facts: MachineFacts): Action => {
  if (isGone(facts)) return { _tag: "Settled" }
  if (facts.stopRequestedAt !== null) return { _tag: "Stop" }
  return { _tag: facts.status === "wanted" ? "Launch" : "Observe" }
}

const gone = (facts: MachineFacts, at: number, failure: string | null): MachineFacts => ({
  ...facts,
  status: failure !== null && facts.runningAt === null ? "failed" : "stopped",
  requestedAt: null,
  stoppedAt: Math.max(at, facts.runningAt ?? at),
  failure: facts.failure ?? failure
})

/** The provider will never launch it. */
export const refused = (facts: MachineFacts, now: number, reason: string): MachineFacts =>
  isGone(facts) ? facts : { ...gone(facts, now, reason), status: "failed" }

/** The provider has no room now: nothing is outstanding, ask again later. */
export const noCapacity = (facts: MachineFacts): MachineFacts =>
  facts.status === "wanted" ? { ...facts, requestedAt: null } : facts

const withCommand = (facts: MachineFacts, command: CommandState): MachineFacts => {
  if (command._tag === "Pending") return facts
  const commandStartedAt = facts.commandStartedAt ?? command.startedAt
  if (command._tag === "Started") return { ...facts, commandStartedAt }
  const exit = facts.exit ?? { at: command.exitedAt, code: command.code, why: command.why }
  return { ...facts, commandStartedAt, exit }
}

/** When a look happened. */
export interface Look {
  /** The wall clock, Unix milliseconds; it may jump. */
  readonly now: number
  /** For how long it has been absent without a break, by a clock that does not jump. */
  readonly absentMs: number
  /** How long after its launch was asked for it may be invisible. */
  readonly visibleWithinMs: number
}

const absent = (facts: MachineFacts, { now, absentMs, visibleWithinMs }: Look): MachineFacts => {
  const absentSince = facts.absentSince ?? now
  const missing = { ...facts, absentSince }
  if (facts.runningAt === null) {
    // Asked to stop, and a launch that was under way would show by now: it never was.
    const never = facts.requestedAt === null || absentMs >= visibleWithinMs
    return facts.stopRequestedAt !== null && never ? gone(facts, now, null) : missing
  }
  if (facts.stopRequestedAt !== null) return gone(facts, absentSince, null)
  return absentMs >= LOST_AFTER_MS ? gone(facts, absentSince, "the provider no longer knows the machine") : missing
}

/** What is known after an observation. */
export const observed = (facts: MachineFacts, state: MachineState, look: Look): MachineFacts => {
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
      return gone(
        withCommand({ ...facts, runningAt: facts.runningAt ?? state.since }, state.command),
        state.stoppedAt,
        null
      )
    case "Lost":
      return gone({ ...facts, runningAt: facts.runningAt ?? state.since }, state.lostAt, state.reason)
  }
}
