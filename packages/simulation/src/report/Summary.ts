/** The numbers of a run, from its outcome: pure arithmetic. Times in milliseconds, money in dollars. */
import type { Fault } from "@sluice/simulator/faults/Fault"
import { REQUEST_KINDS, type RequestCount } from "../users/Tally.ts"
import type { Outcome } from "./Outcome.ts"

const HOUR = 3_600_000

export interface Summary {
  /** `failed (machine_lost)` and the like, with how many, the most first. */
  readonly jobsByEnd: ReadonlyArray<readonly [end: string, count: number]>
  readonly machines: number
  readonly machineHours: number
  readonly gpuHours: number
  readonly costUsd: number
  /** From the submission to the command's start: median, 95 of 100, the longest. Null when no job started. */
  readonly waits: { readonly p50: number; readonly p95: number; readonly max: number } | null
  readonly faults: ReadonlyArray<readonly [fault: Fault, count: number]>
  readonly faultCount: number
  readonly refused: ReadonlyArray<readonly [reason: string, count: number]>
  /** `chats (2 failed, 1 left)`: what was asked of models, by kind. */
  readonly requests: ReadonlyArray<readonly [kind: string, count: number]>
  /** Why requests failed, of all kinds. */
  readonly failures: ReadonlyArray<readonly [reason: string, count: number]>
  /** Virtual time over wall time. */
  readonly speed: number
}

export const summaryOf = (outcome: Outcome): Summary => {
  // A clock that was set wrong dates an order after its start.
  const waits = outcome.jobs
    .flatMap((job) => (job.startedAt === null ? [] : [Math.max(0, job.startedAt - job.createdAt)]))
    .sort((a, b) => a - b)
  const ran = outcome.machines.flatMap(({ gpuCount, runningAt, stoppedAt }) =>
    runningAt === null ? [] : [{ ms: (stoppedAt ?? outcome.virtualMs) - runningAt, gpuCount }]
  )
  const faults = mostFirst(Object.entries(outcome.struck) as ReadonlyArray<readonly [Fault, number]>)
  return {
    jobsByEnd: counted(outcome.jobs.map(endOf)),
    machines: ran.length,
    machineHours: ran.reduce((sum, { ms }) => sum + ms, 0) / HOUR,
    gpuHours: ran.reduce((sum, { gpuCount, ms }) => sum + ms * gpuCount, 0) / HOUR,
    costUsd: outcome.jobs.reduce((sum, job) => sum + (job.costUsd ?? 0), 0),
    waits: waits.length === 0 ? null : { p50: quantile(waits, 0.5), p95: quantile(waits, 0.95), max: waits.at(-1)! },
    faults,
    faultCount: faults.reduce((sum, [, count]) => sum + count, 0),
    refused: mostFirst(Object.entries(outcome.refused)),
    requests: REQUEST_KINDS.map((kind) => requestsOf(kind, outcome.requests[kind])),
    failures: mostFirst([...failuresOf(Object.values(outcome.requests))]),
    speed: outcome.virtualMs / Math.max(1, outcome.wallMs)
  }
}

const requestsOf = (kind: string, { abandoned, answered, failed }: RequestCount): readonly [string, number] => {
  const parts = [...(failed === 0 ? [] : [`${failed} failed`]), ...(abandoned === 0 ? [] : [`${abandoned} left`])]
  return [parts.length === 0 ? kind : `${kind} (${parts.join(", ")})`, answered + failed + abandoned]
}

const failuresOf = (counts: ReadonlyArray<RequestCount>): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>()
  for (const { reasons } of counts) {
    for (const [reason, count] of Object.entries(reasons)) sums.set(reason, (sums.get(reason) ?? 0) + count)
  }
  return sums
}

export const endOf = (job: { readonly status: string; readonly reason: string | null }): string =>
  job.reason === null ? job.status : `${job.status} (${job.reason})`

/** The smallest value that so large a part of all does not exceed. `sorted` is not empty. */
export const quantile = (sorted: ReadonlyArray<number>, part: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)]!

/** How often each name is there, the most first. */
export const counted = (names: ReadonlyArray<string>): ReadonlyArray<readonly [name: string, count: number]> => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return mostFirst([...counts])
}

const mostFirst = <A extends readonly [string, number]>(pairs: ReadonlyArray<A>): ReadonlyArray<A> =>
  [...pairs].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
