/** What a run gives: numbers for people, rows for the picture, the hash of the history, and what broke. Times: ms of virtual time from the start. */
import type { Fault, AppliedFault } from "@sluice/simulator/faults/Fault"
import type { RequestCount, RequestKind } from "../users/Tally.ts"
import type { Scenario } from "../scenario/Scenario.ts"

export interface JobBar {
  readonly id: string
  readonly workspace: string
  readonly gpuType: string
  readonly gpuCount: number
  readonly status: string
  readonly reason: string | null
  readonly createdAt: number
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly costUsd: number | null
}

export interface MachineRow {
  readonly id: string
  readonly gpuType: string
  readonly gpuCount: number
  readonly runningAt: number | null
  readonly stoppedAt: number | null
  readonly jobId: string | null
}

/** Books at one moment, nano-USD as numbers of dollars. */
export interface MoneyPoint {
  readonly at: number
  readonly heldUsd: number
  readonly revenueUsd: number
}

export interface Violation {
  /** The invariant's number and name. */
  readonly invariant: string
  readonly found: ReadonlyArray<string>
  readonly at: number
  readonly step: number
}

export interface Outcome {
  readonly scenario: Scenario
  readonly virtualMs: number
  readonly wallMs: number
  /** Steps of the driver, statements of the database, starts of a server. */
  readonly steps: number
  readonly statements: number
  readonly boots: number
  readonly jobs: ReadonlyArray<JobBar>
  readonly machines: ReadonlyArray<MachineRow>
  readonly money: ReadonlyArray<MoneyPoint>
  /** What was asked of models. */
  readonly requests: Readonly<Record<RequestKind, RequestCount>>
  /** Questions that were asked streamed and buffered, and compared. */
  readonly twins: number
  /** Logs that were followed to their end, and compared. */
  readonly followed: number
  readonly refused: Readonly<Record<string, number>>
  readonly strikes: ReadonlyArray<AppliedFault>
  readonly struck: Readonly<Partial<Record<Fault, number>>>
  /** While a server was down. */
  readonly downs: ReadonlyArray<{ readonly from: number; readonly to: number; readonly replica: string }>
  readonly checks: number
  readonly invariants: ReadonlyArray<string>
  readonly violation: Violation | null
  /** The last events before the end, for a failure. */
  readonly lastEvents: ReadonlyArray<string>
  /** SHA-256 over all events, hex. */
  readonly history: string
}

/** A smaller scenario that breaks the same invariant, and where it was written. */
export interface Smaller {
  readonly scenario: Scenario
  readonly file: string
  /** Why there is no such file. */
  readonly problem: string | null
  /** What to type to run it. */
  readonly command: string
  /** How many runs it took to find it. */
  readonly runs: number
  /** Of its plan. */
  readonly items: number
  readonly faults: ReadonlyArray<string>
}
