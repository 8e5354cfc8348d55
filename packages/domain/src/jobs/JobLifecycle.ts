/**
 * The life of a job, as pure rules (interface: Job status). The state of its machine, the stop requests and the time
 * decide its status and the time of the next step.
 *
 * Invariants: a terminal job never changes; a job is terminal only after its machine is confirmed gone; `startedAt` is
 * set once; `endedAt` is set with every terminal status and with no other; an exit code comes only from the command's
 * own exit, before any stop.
 */
import type { NanoUsd } from "../billing/Money.ts"
import { paysForMs } from "../billing/Money.ts"
import type { MachineFacts } from "../machines/MachineLifecycle.ts"
import { costAt, isGone } from "../machines/MachineLifecycle.ts"
import type { JobStatus, StatusReason } from "./Job.ts"
import { isTerminal } from "./Job.ts"

/** Maximum time from a machine's request to its command's start, in addition to the wait for capacity (ms). */
export const START_LIMIT_MS = 60 * 60_000
/** Pause between two steps of a job that has no deadline (ms). */
const LOOK_AGAIN_MS = 60 * 60_000

export interface JobState {
  readonly status: JobStatus
  readonly startedAt: number | null
  readonly endedAt: number | null
  /** The reason of the stop, and the time at which it became due; null: no stop is due. */
  readonly stop: { readonly reason: StatusReason; readonly at: number } | null
  readonly exitCode: number | null
  readonly error: string | null
  readonly statusReason: StatusReason | null
}

/** The fixed values of a job. */
export interface JobTerms {
  readonly createdAt: number
  readonly maxRuntimeMs: number
  readonly capacityWaitMs: number
  readonly price: NanoUsd
  readonly maxCost: NanoUsd | null
}

/** The money held for the job. `exhausted`: the hold cannot be raised. */
export interface JobFunds {
  readonly hold: NanoUsd
  readonly exhausted: boolean
}

export interface Decision {
  readonly state: JobState
  /** Request the machine's stop; it may be requested already. */
  readonly stopMachine: boolean
  /** The hold is used up: try to raise it, then decide again. */
  readonly needsFunds: boolean
  /** The final cost of a terminal job: settle it and release the rest of the hold. */
  readonly settle: NanoUsd | null
  readonly wakeAt: number
}

export const decide = (
  job: JobState,
  machine: MachineFacts,
  terms: JobTerms,
  funds: JobFunds,
  now: number
): Decision => {
  if (isTerminal(job.status)) {
    return { state: job, stopMachine: false, needsFunds: false, settle: null, wakeAt: Number.MAX_SAFE_INTEGER }
  }
  const seen = progressed(job, machine)
  if (isGone(machine)) {
    const state = ended(seen, machine, terms)
    const settle = costAt(terms.price, machine, now) ?? 0n
    return { state, stopMachine: false, needsFunds: false, settle, wakeAt: Number.MAX_SAFE_INTEGER }
  }
  if (seen.stop !== null || machine.exit !== null) {
    return { state: seen, stopMachine: true, needsFunds: false, settle: null, wakeAt: now + LOOK_AGAIN_MS }
  }
  const due = deadlines(seen, machine, terms, funds)
  const first = due[0]
  if (first === undefined || first.at > now) {
    const wakeAt = first?.at ?? now + LOOK_AGAIN_MS
    return { state: seen, stopMachine: false, needsFunds: false, settle: null, wakeAt }
  }
  if (first.reason === "balance_exhausted" && !funds.exhausted) {
    return { state: seen, stopMachine: false, needsFunds: true, settle: null, wakeAt: now }
  }
  const state = { ...seen, stop: first }
  return { state, stopMachine: true, needsFunds: false, settle: null, wakeAt: now + LOOK_AGAIN_MS }
}

const progressed = (job: JobState, machine: MachineFacts): JobState => {
  if (machine.commandStartedAt !== null) {
    return { ...job, status: "running", startedAt: job.startedAt ?? machine.commandStartedAt }
  }
  const launched = machine.runningAt !== null || machine.status === "launching" || machine.status === "running"
  return job.status === "queued" && launched ? { ...job, status: "starting" } : job
}

/** Returns the times at which the job must be stopped, the earliest first. All are known in advance. */
const deadlines = (
  job: JobState,
  machine: MachineFacts,
  terms: JobTerms,
  funds: JobFunds
): ReadonlyArray<{ readonly reason: StatusReason; readonly at: number }> => {
  const due: Array<{ readonly reason: StatusReason; readonly at: number }> = []
  if (job.startedAt !== null) due.push({ reason: "max_runtime", at: job.startedAt + terms.maxRuntimeMs })
  else if (job.status === "queued") due.push({ reason: "no_capacity", at: terms.createdAt + terms.capacityWaitMs })
  else due.push({ reason: "launch_failed", at: terms.createdAt + terms.capacityWaitMs + START_LIMIT_MS })
  if (machine.runningAt !== null) {
    if (terms.maxCost !== null) {
      due.push({ reason: "cost_ceiling", at: machine.runningAt + paysForMs(terms.price, terms.maxCost) })
    }
    due.push({ reason: "balance_exhausted", at: machine.runningAt + paysForMs(terms.price, funds.hold) })
  }
  return due.sort((a, b) => a.at - b.at)
}

/** Returns the end of a job whose machine is gone. The earlier event counts: the command's own exit, or the stop. */
const ended = (job: JobState, machine: MachineFacts, terms: JobTerms): JobState => {
  const endedAt = machine.stoppedAt ?? terms.createdAt
  const end = (status: JobStatus, more: Partial<JobState>): JobState => ({ ...job, status, endedAt, ...more })
  const exit = machine.exit
  const stop = job.stop
  if (exit !== null && exit.why === "exit" && exit.code !== null && (stop === null || exit.at <= stop.at)) {
    return end(exit.code === 0 ? "succeeded" : "failed", { exitCode: exit.code })
  }
  if (stop !== null && !(exit !== null && exit.why === "timeout" && exit.at <= stop.at)) {
    return end(statusOf(stop.reason), { statusReason: stop.reason, error: explain(stop.reason, machine.failure) })
  }
  if (exit !== null && exit.why === "timeout") {
    return end("timed_out", { statusReason: "max_runtime", error: explain("max_runtime", null) })
  }
  const reason: StatusReason = machine.runningAt === null ? "launch_failed" : "machine_lost"
  return end("failed", { statusReason: reason, error: explain(reason, machine.failure) })
}

const statusOf = (reason: StatusReason): JobStatus =>
  reason === "max_runtime"
    ? "timed_out"
    : reason === "cancelled_by_user" || reason === "instance_stopped"
      ? "cancelled"
      : "failed"

/** Returns the `error` of a job that its command's exit did not end; null if the status explains it. */
const explain = (reason: StatusReason, failure: string | null): string | null => {
  switch (reason) {
    case "no_capacity":
      return "No machine of this type became free in time. Try another gpu_type or region, or raise capacity_wait_minutes."
    case "launch_failed":
      return `The machine could not be started${failure === null ? "" : `: ${failure}`}.`
    case "machine_lost":
      return `The machine failed while the job ran${failure === null ? "" : `: ${failure}`}.`
    case "budget_reached":
      return "The environment's monthly budget was reached."
    case "balance_exhausted":
      return "The workspace's balance ran out."
    case "cost_ceiling":
      return "The job's max_cost_usd was reached."
    case "max_runtime":
      return "The job reached max_runtime_minutes."
    case "cancelled_by_user":
    case "instance_stopped":
      return null
  }
}
