/**
 * The rows of jobs: claim, renew and commit for the reconciler, and the one event that callers cause, a stop. A job's end,
 * the settlement of its hold and the return of what was not used are one statement; a claim that was lost commits nothing of it.
 * Locks as ARCHITECTURE.md says (Lock order).
 */
import { Clock, Context, Effect, Exit, Layer } from "effect"
import { REVENUE_ACCOUNT, split, WRITE_OFF_ACCOUNT } from "../billing/Ledger.ts"
import { monthOf } from "../billing/Month.ts"
import type { NanoUsd } from "../billing/Money.ts"
import { BatchSql } from "../database/Clients.ts"
import {
  type Claims,
  claiming,
  ENDED,
  GONE,
  makeClaims,
  makeCommits,
  stopAsked,
  wakeNow
} from "../database/ReconciledStore.ts"
import { Replica } from "../database/Replica.ts"
import { instant } from "../machines/MachineRow.ts"
import { isTerminal, type StatusReason } from "./Job.ts"
import type { JobState } from "./JobLifecycle.ts"
import { type ClaimedJob, claimedOf } from "./JobRow.ts"

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
  /** What it runs up counts against a budget, which is to look at it. */
  readonly limited: boolean
}

/** What of a job's machine and hold a reader needs, beside the job's own columns. */
export const MACHINE_COLUMNS = `(select to_json(x) from (select m.status, m.requested_at, m.running_at, m.command_started_at, m.command_exited_at,
  m.exit_code, m.exit_why, m.stop_requested_at, m.stopped_at, m.absent_since, m.failure, m.output_bytes from machines m where m.id = c.machine_id) x) as machine,
  (select h.amount from holds h where h.id = c.id and h.state = 'open') as hold`

const CLAIM = `with c as (${claiming("jobs", `status not in ${ENDED}`)}) select c.*, ${MACHINE_COLUMNS} from c`

/** `stops` is read by nobody: asking for it first is what locks the machines before the holds and the accounts. */
const COMMIT = `with input as materialized (select * from json_to_recordset($1::json) as r(id uuid, fence int8, events int8, machine_id uuid,
    environment_id uuid, stop_machine boolean, terminal boolean, began boolean, wake_at timestamptz, status text, started_at timestamptz,
    ended_at timestamptz, stop_reason text, stop_at timestamptz, exit_code int4, error text, status_reason text, cost int8,
    charged int8, written_off int8, price int8, running_at timestamptz, description text)
  ), mine as materialized (select j.id from jobs j where j.id = any(array(select id from input)) order by j.id for no key update
  ), written as (update jobs j set status = i.status, started_at = i.started_at, ended_at = i.ended_at,
      stop_reason = coalesce(j.stop_reason, i.stop_reason), stop_at = coalesce(j.stop_at, i.stop_at), exit_code = i.exit_code,
      error = i.error, status_reason = i.status_reason, cost = i.cost, lease_by = null, lease_until = null,
      wake_at = case when j.events <> i.events then $3::timestamptz else i.wake_at end
    from input i where j.id = i.id and j.id = any(array(select id from mine)) and j.lease_by = $2 and j.fence = i.fence
    returning j.id, j.wake_at
  ), ok as materialized (select i.* from input i join written w on w.id = i.id
  ), theirs as materialized (select m.id from machines m where m.id = any(array(select machine_id from ok where stop_machine)) order by m.id for no key update
  ), stopped as (update machines m set ${stopAsked("$3::timestamptz", "m.")}
    from ok where m.id = ok.machine_id and ok.stop_machine and m.stop_requested_at is null
      and m.id = any(array(select id from theirs)) and m.status not in ${GONE}
    returning m.id
  ), settled as (update holds h set state = case when ok.charged > 0 then 'settled' else 'released' end
    from ok where h.id = ok.id and ok.terminal and h.state = 'open' and h.id = any(array(select id from ok where terminal))
    returning h.id, h.account_id, h.amount
  ), acc as materialized (select a.id, a.balance, a.held from accounts a where a.id = any(array(select account_id from settled)) order by a.id for update
  ), bill as materialized (select ok.id, s.account_id, s.amount as held, ok.charged, ok.written_off, ok.description, ok.machine_id,
      acc.balance - sum(ok.charged) over (partition by s.account_id order by ok.id) as balance_after
    from ok join settled s on s.id = ok.id join acc on acc.id = s.account_id
  ), t as (insert into txns (id, kind, description, resource_type, resource_id, created_at)
    select id, 'machine', description, 'job', id::text, $3::timestamptz from bill where charged + written_off > 0
  ), e as (insert into entries (txn_id, account_id, amount, balance_after)
    select id, account_id, -charged, balance_after from bill where charged > 0
    union all select id, '${REVENUE_ACCOUNT}'::uuid, charged + written_off, null from bill where charged + written_off > 0
    union all select id, '${WRITE_OFF_ACCOUNT}'::uuid, -written_off, null from bill where written_off > 0
  ), a as (update accounts a set balance = acc.balance - y.charged, held = acc.held - y.held
    from acc join (select account_id, sum(charged)::int8 as charged, sum(held)::int8 as held from bill group by account_id) y on y.account_id = acc.id
    where a.id = acc.id and a.id = any(array(select account_id from settled))
  ), envs as materialized (select e.id, greatest(e.month, $4::date) as month from environments e where (e.id = any(array(select environment_id from ok where terminal))
      or (e.id = any(array(select environment_id from ok where began)) and e.monthly_budget is not null))
      and (select count(*) from acc) >= 0 order by e.id for update
  ), spent as (update environments e set month = y.month, month_spent = spent_in(e, $4::date) + y.cost,
      events = e.events + 1,
      wake_at = ${wakeNow("$3::timestamptz", "e.")}
    from (select v.id, v.month, sum(cost_in(charged + written_off, price, running_at, v.month))::int8 as cost
      from ok join envs v on v.id = ok.environment_id where terminal or began group by v.id, v.month) y
    where e.id = y.id and e.id = any(array(select id from envs))
    returning e.id, e.monthly_budget is not null as limited)
  select w.id, w.wake_at, (select count(*) from stopped) as stops,
    exists (select from ok join spent s on s.id = ok.environment_id where ok.id = w.id and s.limited) as limited from written w`

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
    // What the customer pays; what the operator bears stands in the books alone.
    cost: settle === null || row.machine.runningAt === null ? null : bill.charged.toString(),
    charged: bill.charged.toString(),
    written_off: bill.writtenOff.toString(),
    // A month's budget bears what the job ran up in that month.
    price: row.price.toString(),
    running_at: instant(row.machine.runningAt),
    description: `${row.spec.gpuCount} x ${row.spec.gpuType}, job ${row.name}`
  }
}

/** A job that is terminal or asked to stop stays as it is. */
const STOP = `with j as (update jobs set events = events + 1, cancel_requested_at = coalesce(cancel_requested_at, $2::timestamptz),
    stop_reason = coalesce(stop_reason, $3), stop_at = coalesce(stop_at, $2::timestamptz),
    wake_at = ${wakeNow("$2::timestamptz")}
  where id = $1 and status not in ${ENDED} returning machine_id)
  update machines m set ${stopAsked("$2::timestamptz")}
  from j where m.id = j.machine_id and m.status not in ${GONE}`

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
        const rows = sql.unsafe<{ readonly id: string; readonly wake_at: Date; readonly limited: boolean }>(COMMIT, [
          JSON.stringify(commits.map(inputOf)),
          replica.id,
          new Date(at),
          monthOf(at)
        ])
        return rows.pipe(
          Effect.orDie,
          Effect.map((written) => {
            const byId = new Map(written.map((row) => [row.id, row]))
            return commits.map(({ row, wakeAt }) => {
              const found = byId.get(row.id)
              return Exit.succeed<Committed>({
                committed: found !== undefined,
                wakeAt: found?.wake_at.getTime() ?? wakeAt,
                limited: found?.limited ?? false
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
        ...(yield* makeClaims({ table: "jobs", claim: CLAIM, of: claimedOf })),
        // What its machine showed can be seen again; an end and a stop are decisions, and wait for the disk.
        commit: (step) => commit(step, isTerminal(step.state.status) || step.stopMachine),
        stop: (jobId, reason) =>
          Effect.asVoid(Effect.orDie(batch.unsafe(STOP, [jobId, new Date(clock.currentTimeMillisUnsafe()), reason])))
      })
    })
  )
}
