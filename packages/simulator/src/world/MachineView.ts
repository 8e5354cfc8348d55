/**
 * Computes the observation of a machine from its record, its command's timeline and the time. Pure. The timeline is
 * needed only when the command can have started; a stop cuts it.
 */
import type { CommandState, MachineState, Observation } from "@sluice/domain/machines/MachineProvider"
import type { Timeline } from "@sluice/machine-shell/Shell"
import { timesOf } from "./LaunchRecord.ts"
import type { LaunchRecord } from "./LaunchRecord.ts"

const PENDING: CommandState = { _tag: "Pending" }

/** Returns true when `view` needs the timeline at this time. */
export const hasCommandStarted = (record: LaunchRecord, now: number): boolean => {
  if (record.plan?.command == null || record.launchedAt === null) return false
  const { commandAt } = timesOf(record.ordinal, record.launchedAt, record.plan)
  // A stop in the millisecond of the start comes after the start: an observation before the stop stays true.
  return commandAt <= Math.min(now, record.stopAt ?? Infinity)
}

/**
 * Returns the observation at `now`. With `timeline` undefined a started command runs on, up to its limit or its
 * machine's end, and `nextAt` is null, since the next change is not known.
 */
export const view = (record: LaunchRecord, timeline: Timeline | undefined, now: number): Observation => {
  const { plan, launchedAt, stopAt, stoppedAt, saved } = record
  if (launchedAt === null || plan === null) {
    const state: MachineState = {
      _tag: "Stopped",
      since: null,
      stoppedAt: stoppedAt ?? now,
      command: PENDING,
      volumeBytes: record.volumeBytes
    }
    return { state, at: now, nextAt: Infinity, nextOutputAt: Infinity }
  }
  const { runningAt, commandAt } = timesOf(record.ordinal, launchedAt, plan)
  const seenAt = Math.min(now, stopAt ?? Infinity)
  const isStarted = hasCommandStarted(record, now)
  const end = isStarted && timeline !== undefined ? endOf(record, timeline) : undefined
  const command = !isStarted ? PENDING : commandAtTime(commandAt, seenAt, end)
  if (stopAt !== null && stoppedAt !== null) {
    const since = runningAt <= stopAt ? runningAt : null
    if (saved && stoppedAt <= now) {
      const command = isStarted ? commandAtTime(commandAt, seenAt, endOf(record, timeline ?? UNENDED)) : PENDING
      const state: MachineState = { _tag: "Stopped", since, stoppedAt, command, volumeBytes: record.volumeBytes }
      return { state, at: now, nextAt: Infinity, nextOutputAt: Infinity }
    }
    const state: MachineState = since === null ? { _tag: "Launching" } : { _tag: "Running", since, command }
    return { state, at: now, nextAt: saved ? stoppedAt : null, nextOutputAt: Infinity }
  }
  if (now < runningAt) return { state: { _tag: "Launching" }, at: now, nextAt: runningAt, nextOutputAt: commandAt }
  const state: MachineState = { _tag: "Running", since: runningAt, command }
  if (plan.command === null) return { state, at: now, nextAt: Infinity, nextOutputAt: Infinity }
  if (!isStarted) return { state, at: now, nextAt: commandAt, nextOutputAt: commandAt }
  if (timeline === undefined || end === undefined) return { state, at: now, nextAt: null, nextOutputAt: null }
  const next = timeline.chunks.find((chunk) => chunk.at > now)?.at ?? Infinity
  return { state, at: now, nextAt: end.at > now ? end.at : Infinity, nextOutputAt: next <= end.at ? next : Infinity }
}

/** Returns the end of the command as far as it is known: by itself, at its limit, or with its machine. */
export const endOf = (
  record: LaunchRecord,
  timeline: Pick<Timeline, "exit">
): { at: number; code: number | null; why: "exit" | "timeout" | "stopped" } => {
  const { deadlineAt } = timesOf(record.ordinal, record.launchedAt!, record.plan!)
  const stopAt = record.stopAt ?? Infinity
  if (timeline.exit !== null && timeline.exit.at <= stopAt) return { ...timeline.exit, why: "exit" }
  return deadlineAt <= stopAt
    ? { at: deadlineAt, code: null, why: "timeout" }
    : { at: stopAt, code: null, why: "stopped" }
}

/** A run that the host has not finished. */
const UNENDED = { exit: null }

const commandAtTime = (startedAt: number, now: number, end: ReturnType<typeof endOf> | undefined): CommandState =>
  end === undefined || end.at > now
    ? { _tag: "Started", startedAt }
    : { _tag: "Exited", startedAt, exitedAt: end.at, code: end.code, why: end.why }
