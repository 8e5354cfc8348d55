/**
 * Applies the faults of a machine to the observation of the world's machine behind it. Pure.
 *
 * `nextAt` stays a promise: where a fault can change the state earlier than the world, it is the time of that fault,
 * and where the time is unknown it is null.
 */
import type { CommandState, MachineState, Observation } from "@sluice/domain/machines/MachineProvider"
import type { FaultPlan } from "./FaultyWorld.ts"

export const applyFaults = (plan: FaultPlan, seen: Observation, now: number): Observation => {
  if (now < plan.visibleAt) return { ...seen, state: { _tag: "Absent" }, nextAt: plan.visibleAt }
  if (plan.lostState !== undefined) return observeLost(plan.lostState, now)
  if (plan.isBroken) return observeBroken(plan, seen)
  if (now < plan.savedAt) return { ...seen, state: withHiddenExit(plan, keepAlive(seen.state)), nextAt: null }
  const state = withHiddenExit(plan, delayStop(plan, seen.state))
  if (!isAlive(state)) return { ...seen, state }
  const nextAt = isEndHidden(plan, state) ? Infinity : seen.nextAt
  return { ...seen, state, nextAt: nextAt === null ? null : Math.min(nextAt, Math.max(now, plan.breaksAt)) }
}

/**
 * A broken machine is lost from the time at which the world's machine is gone. Until then it looks as before it broke.
 */
const observeBroken = (plan: FaultPlan, { state, ...seen }: Observation): Observation => {
  switch (state._tag) {
    case "Stopped":
      return observeLost(
        { _tag: "Lost", since: state.since, lostAt: state.stoppedAt, reason: "its host failed" },
        seen.at
      )
    case "Running":
      return { ...seen, state: withHiddenExit(plan, { ...state, command: hideStop(plan, state.command) }) }
    default:
      return { ...seen, state }
  }
}

const hideStop = (plan: FaultPlan, command: CommandState): CommandState =>
  command._tag === "Exited" && command.why === "stopped" && plan.stopRequestedAt === undefined
    ? { _tag: "Started", startedAt: command.startedAt }
    : command

/**
 * Returns the observation of a machine whose launch is delayed. `nextAt` is null when the launch is due but found no
 * room.
 */
export const observeDelayed = (plan: FaultPlan, now: number): Observation => ({
  state: { _tag: "Launching" },
  at: now,
  nextAt: plan.startsAt > now ? plan.startsAt : null,
  nextOutputAt: Math.max(now, plan.startsAt)
})

/** Returns the observation of a lost machine, which stays lost. */
export const observeLost = (state: MachineState, at: number): Observation => ({
  state,
  at,
  nextAt: Infinity,
  nextOutputAt: Infinity
})

export const isAlive = (state: MachineState): boolean => state._tag === "Launching" || state._tag === "Running"

/** Returns true when the world has ended the command and the fault hides it. */
export const isExitHidden = (plan: FaultPlan, state: MachineState): boolean =>
  plan.hasHiddenExit && "command" in state && state.command._tag === "Exited" && state.command.why !== "stopped"

/** True when only a stop can change the machine's state: from the start of its command on. */
const isEndHidden = (plan: FaultPlan, state: MachineState): boolean =>
  plan.hasHiddenExit &&
  plan.stopRequestedAt === undefined &&
  state._tag === "Running" &&
  state.command._tag !== "Pending"

const withHiddenExit = (plan: FaultPlan, state: MachineState): MachineState =>
  isExitHidden(plan, state) && "command" in state ? { ...state, command: hideExit(plan, state.command) } : state

const hideExit = (plan: FaultPlan, command: CommandState): CommandState => {
  if (command._tag !== "Exited") return command
  const { startedAt } = command
  if (plan.stopRequestedAt === undefined) return { _tag: "Started", startedAt }
  return { ...command, exitedAt: Math.max(startedAt, plan.stopRequestedAt), code: null, why: "stopped" }
}

const keepAlive = (state: MachineState): MachineState => {
  if (state._tag !== "Stopped") return state
  return state.since === null ? { _tag: "Launching" } : { _tag: "Running", since: state.since, command: state.command }
}

/** A machine is gone only after its volume was saved. Until then it was alive. */
const delayStop = (plan: FaultPlan, state: MachineState): MachineState =>
  state._tag === "Stopped" ? { ...state, stoppedAt: Math.max(state.stoppedAt, plan.savedAt) } : state
