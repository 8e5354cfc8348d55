/**
 * What does a machine with this fate show, given what the world behind it shows? Pure.
 *
 * `nextAt` stays a promise: where a fault may change the state earlier than the world would, it names that moment, and
 * where nobody can know it is null.
 */
import type { CommandState, MachineState, Observation } from "@sluice/domain/machines/MachineProvider"
import type { FaultPlan } from "./FaultyWorld.ts"

export const disguised = (fate: FaultPlan, seen: Observation, now: number): Observation => {
  if (now < fate.visibleAt) return { ...seen, state: { _tag: "Absent" }, nextAt: fate.visibleAt }
  if (fate.lost !== undefined) return lostFor(fate.lost, now)
  if (fate.broken) return breaking(fate, seen)
  if (now < fate.savedAt) return { ...seen, state: withExit(fate, stillStopping(seen.state)), nextAt: null }
  const state = withExit(fate, lateStop(fate, seen.state))
  if (!isAlive(state)) return { ...seen, state }
  const nextAt = hidesItsEnd(fate, state) ? Infinity : seen.nextAt
  return { ...seen, state, nextAt: nextAt === null ? null : Math.min(nextAt, Math.max(now, fate.losesAt)) }
}

/** Gone the moment that the world's machine is; until then it was seen as it was before it broke. */
const breaking = (fate: FaultPlan, { state, ...seen }: Observation): Observation => {
  switch (state._tag) {
    case "Stopped":
      return lostFor({ _tag: "Lost", since: state.since, lostAt: state.stoppedAt, reason: "its host failed" }, seen.at)
    case "Running":
      return { ...seen, state: withExit(fate, { ...state, command: unstopped(fate, state.command) }) }
    default:
      return { ...seen, state }
  }
}

const unstopped = (fate: FaultPlan, command: CommandState): CommandState =>
  command._tag === "Exited" && command.why === "stopped" && fate.stopAskedAt === undefined
    ? { _tag: "Started", startedAt: command.startedAt }
    : command

/** A machine whose launch the world keeps back: `nextAt` null once it is due and finds no room. */
export const keptBack = (fate: FaultPlan, now: number): Observation => ({
  state: { _tag: "Launching" },
  at: now,
  nextAt: fate.startsAt > now ? fate.startsAt : null,
  nextOutputAt: Math.max(now, fate.startsAt)
})

/** What is lost stays lost. */
export const lostFor = (state: MachineState, at: number): Observation => ({
  state,
  at,
  nextAt: Infinity,
  nextOutputAt: Infinity
})

export const isAlive = (state: MachineState): boolean => state._tag === "Launching" || state._tag === "Running"

/** Whether the world behind it has ended the command and the fate does not tell. */
export const hidesExitNow = (fate: FaultPlan, state: MachineState): boolean =>
  fate.hidesExit && "command" in state && state.command._tag === "Exited" && state.command.why !== "stopped"

/** From its command's start on nothing but a stop changes what such a machine shows. */
const hidesItsEnd = (fate: FaultPlan, state: MachineState): boolean =>
  fate.hidesExit && fate.stopAskedAt === undefined && state._tag === "Running" && state.command._tag !== "Pending"

const withExit = (fate: FaultPlan, state: MachineState): MachineState =>
  hidesExitNow(fate, state) && "command" in state ? { ...state, command: untold(fate, state.command) } : state

const untold = (fate: FaultPlan, command: CommandState): CommandState => {
  if (command._tag !== "Exited") return command
  const { startedAt } = command
  if (fate.stopAskedAt === undefined) return { _tag: "Started", startedAt }
  return { ...command, exitedAt: Math.max(startedAt, fate.stopAskedAt), code: null, why: "stopped" }
}

const stillStopping = (state: MachineState): MachineState => {
  if (state._tag !== "Stopped") return state
  return state.since === null ? { _tag: "Launching" } : { _tag: "Running", since: state.since, command: state.command }
}

/** Gone only once its volume was saved: until then it was seen alive. */
const lateStop = (fate: FaultPlan, state: MachineState): MachineState =>
  state._tag === "Stopped" ? { ...state, stoppedAt: Math.max(state.stoppedAt, fate.savedAt) } : state
