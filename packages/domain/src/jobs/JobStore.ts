/**
 * The rows of jobs: claim, renew and commit for the reconciler, and the one event that callers cause, a stop. A job's end,
 * the settlement of its hold and the return of what was not used are one statement; a claim that was lost commits nothing of it.
 * Locks as ARCHITECTURE.md says (Lock order).
 */
import { Clock, Context, Effect, Exit, Layer, Schema } from "effect"
import { split } from "../billing/Ledger.ts"
import { monthOf } from "../billing/Month.ts"
import type { NanoUsd } from "../billing/Money.ts"
import { BatchSql } from "../database/Clients.ts"
import { type Claims, claiming, ENDED, makeClaims, makeCommits } from "../database/ReconciledStore.ts"
import { Replica } from "../database/Replica.ts"
import { rowsOf } from "../database/RowDecoder.ts"
import { instant } from "../machines/MachineRow.ts"
import { isTerminal, type StatusReason } from "./Job.ts"
import { COMMIT_JOBS, STOP_JOB } from "./JobCommit.sql.ts"
import type { JobState } from "./JobLifecycle.ts"
import { type ClaimedJob, claimedOf, JobWithMachineRow } from "./JobRow.ts"

export interface JobCommit {
  readonly row: ClaimedJob
  readonly state: JobState
  readonly stopMachine: boolean
  /** The final cost; null while the job is not terminal. */
  readonly settle: NanoUsd | null
  readonly wakeAt: number
}

export interface Committed {
  readonly committed: boolean
  readonly wakeAt: number
  /** The job's cost counts against a budget, whose reconciler must look at it. */
  readonly limited: boolean
}

/** The columns of a job's machine, and its open hold, that a reader needs beside the job's own columns. `c` is the job. */
export const MACHINE_COLUMNS = `(
    select to_json(facts)
    from (
      select m.status, m.requested_at, m.running_at, m.command_started_at, m.command_exited_at, m.exit_code, m.exit_why,
        m.stop_requested_at, m.stopped_at, m.absent_since, m.failure, m.output_bytes
      from machines m
      where m.id = c.machine_id
    ) facts
  ) as machine,
  (select h.amount from holds h where h.id = c.id and h.state = 'open') as hold`

const CLAIM = `with claimed_jobs as (
  ${claiming("jobs", `status not in ${ENDED}`)}
)
select c.*, ${MACHINE_COLUMNS}
from claimed_jobs c`

const inputOf = ({ row, state, stopMachine, settle, wakeAt }: JobCommit) => {
  const bill = split(settle ?? 0n, row.hold ?? 0n)
  return {
    id: row.id,
    fence: row.fence.toString(),
    events: row.events.toString(),
    machine_id: row.machine_id,
    environment_id: row.environment_id,
    stop_machine: stopMachine,
    terminal: isTerminal(state.status),
    has_new_status: row.status !== state.status,
    began: row.status !== state.status && row.machine.runningAt !== null,
    wake_at: instant(Math.min(wakeAt, LATEST_MS)),
    status: state.status,
    started_at: instant(state.startedAt),
    ended_at: instant(state.endedAt),
    stop_reason: state.stop?.reason ?? null,
    stop_at: instant(state.stop?.at ?? null),
    exit_code: state.exitCode,
    error: state.error,
    status_reason: state.statusReason,
    // The customer's part. The operator's part is in the ledger only.
    cost: settle === null || row.machine.runningAt === null ? null : bill.charged.toString(),
    charged: bill.charged.toString(),
    written_off: bill.writtenOff.toString(),
    // A month's budget bears what the job ran up in that month.
    price: row.price.toString(),
    running_at: instant(row.machine.runningAt),
    description: `${row.spec.gpuCount} x ${row.spec.gpuType}, job ${row.name}`
  }
}

const claimedRows = rowsOf("JobStore", JobWithMachineRow)
const writtenRows = rowsOf(
  "JobStore",
  Schema.Struct({ id: Schema.String, wake_at: Schema.Date, is_limited: Schema.Boolean })
)

/** The year 9999: later than anything that wakes. */
const LATEST_MS = 253_402_300_799_000

export class JobStore extends Context.Service<
  JobStore,
  Claims<ClaimedJob> & {
    readonly commit: (commit: JobCommit) => Effect.Effect<Committed>
    /** Asks a job to stop; for a terminal one nothing happens. The caller has checked that it may. */
    readonly stop: (jobId: string, reason: StatusReason) => Effect.Effect<void>
  }
>()("@sluice/domain/jobs/JobStore") {
  static readonly layer = Layer.effect(
    JobStore,
    Effect.gen(function* () {
      const batch = yield* BatchSql
      const replica = yield* Replica
      const clock = yield* Clock.Clock

      const flush = (sql: BatchSql["Service"], commits: ReadonlyArray<JobCommit>) => {
        const at = clock.currentTimeMillisUnsafe()
        const rows = sql.unsafe(COMMIT_JOBS, [
          JSON.stringify(commits.map(inputOf)),
          replica.id,
          new Date(at),
          monthOf(at)
        ])
        return rows.pipe(
          Effect.orDie,
          Effect.map((written) => {
            const byId = new Map(writtenRows(written).map((row) => [row.id, row]))
            return commits.map(({ row, wakeAt }) => {
              const found = byId.get(row.id)
              return Exit.succeed<Committed>({
                committed: found !== undefined,
                wakeAt: found?.wake_at.getTime() ?? wakeAt,
                limited: found?.is_limited ?? false
              })
            })
          })
        )
      }
      const commit = yield* makeCommits({
        table: "jobs",
        workspaceOf: ({ row }: JobCommit) => row.workspace_id,
        rowOf: ({ row }) => row.id,
        flush
      })

      return JobStore.of({
        ...(yield* makeClaims({ table: "jobs", claim: CLAIM, rows: claimedRows, of: claimedOf })),
        // The state of a machine is observed again, so its commit need not wait for the disk. An end and a stop are decisions and do.
        commit: (step) => commit(step, isTerminal(step.state.status) || step.stopMachine),
        stop: (jobId, reason) =>
          Effect.asVoid(
            Effect.orDie(batch.unsafe(STOP_JOB, [jobId, new Date(clock.currentTimeMillisUnsafe()), reason]))
          )
      })
    })
  )
}
