/** Reading jobs, and the one event that callers cause: a cancel. Every statement is scoped to the caller's environment. */
import { Clock, Context, Effect, Layer } from "effect"
import * as PgClient from "@effect/sql-pg/PgClient"
import type { Principal } from "../access/Principal.ts"
import type { NanoUsd } from "../billing/Money.ts"
import { monthOf } from "../billing/Ledger.ts"
import { type Page, type PageRequest, pageOf } from "../database/Page.ts"
import { ENDED, GONE, stopAsked, wakeNow } from "../database/ReconciledStore.ts"
import type { Job, JobStatus, StatusReason } from "./Job.ts"
import { type JobRow, jobOf } from "./JobRow.ts"
import { MACHINE_COLUMNS } from "./JobStore.ts"

export interface JobFilter {
  readonly status: JobStatus | undefined
  readonly name: string | undefined
  readonly label: readonly [key: string, value: string] | undefined
  readonly createdAfter: Date | undefined
  readonly createdBefore: Date | undefined
}

/** What decides whether a job can be paid. */
export interface Funds {
  readonly available: NanoUsd
  readonly budgetReached: boolean
  /** Null: no budget. */
  readonly budgetRemaining: NanoUsd | null
}

const WHERE = `c.workspace_id = $1 and c.environment_id = $2 and ($3::text is null or c.status = $3) and ($4::text is null or c.name = $4)
  and ($5::jsonb is null or c.labels @> $5) and ($6::timestamptz is null or c.created_at > $6) and ($7::timestamptz is null or c.created_at < $7)`

/** The job first, then its machine: the lock order of all commits. A job that is terminal or asked to stop stays as it is. */
const STOP = `with j as (update jobs set events = events + 1, cancel_requested_at = coalesce(cancel_requested_at, $2::timestamptz),
    stop_reason = coalesce(stop_reason, $3), stop_at = coalesce(stop_at, $2::timestamptz),
    wake_at = ${wakeNow("$2::timestamptz")}
  where id = $1 and status not in ${ENDED} returning machine_id)
  update machines m set ${stopAsked("$2::timestamptz")}
  from j where m.id = j.machine_id and m.status not in ${GONE}`

const FUNDS = `select a.balance - a.held as available, budget_reached(e, $3::date) as budget_reached,
    case when e.monthly_budget is null then null else greatest(0, e.monthly_budget - spent_in(e, $3::date)) end as budget_remaining
  from accounts a, environments e where a.id = $1 and e.id = $2 and e.workspace_id = $1`

export class JobListStore extends Context.Service<
  JobListStore,
  {
    readonly find: (principal: Principal, id: string) => Effect.Effect<Job | undefined>
    readonly list: (principal: Principal, filter: JobFilter, page: PageRequest) => Effect.Effect<Page<Job>>
    /** Asks a job to stop; for a terminal one nothing happens. The caller has checked that it may. */
    readonly stop: (jobId: string, reason: StatusReason) => Effect.Effect<void>
    readonly funds: (principal: Principal) => Effect.Effect<Funds>
    readonly volume: (
      principal: Principal,
      id: string
    ) => Effect.Effect<{ readonly region: string; readonly attached: boolean } | undefined>
  }
>()("@sluice/domain/jobs/JobListStore") {
  static readonly layer = Layer.effect(
    JobListStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const clock = yield* Clock.Clock
      const now = () => clock.currentTimeMillisUnsafe()

      const find = Effect.fnUntraced(function* (principal: Principal, id: string) {
        const rows = yield* sql.unsafe<JobRow>(
          `select c.*, ${MACHINE_COLUMNS} from jobs c where c.id = $1 and c.workspace_id = $2 and c.environment_id = $3`,
          [id, principal.workspaceId, principal.environmentId]
        )
        return rows[0] === undefined ? undefined : jobOf(rows[0], now())
      }, Effect.orDie)

      const list = Effect.fnUntraced(function* (principal: Principal, filter: JobFilter, page: PageRequest) {
        const where = [
          principal.workspaceId,
          principal.environmentId,
          filter.status ?? null,
          filter.name ?? null,
          filter.label === undefined ? null : JSON.stringify(Object.fromEntries([filter.label])),
          filter.createdAfter ?? null,
          filter.createdBefore ?? null
        ]
        const [rows, counts] = yield* Effect.all([
          sql.unsafe<JobRow>(
            `select c.*, ${MACHINE_COLUMNS} from jobs c where ${WHERE} and ($8::uuid is null or c.id < $8) order by c.id desc limit $9`,
            [...where, page.after ?? null, page.limit + 1]
          ),
          sql.unsafe<{ readonly total: bigint }>(`select count(*) as total from jobs c where ${WHERE}`, where)
        ])
        const at = now()
        return pageOf(
          rows.map((row) => jobOf(row, at)),
          page,
          Number(counts[0]?.total ?? 0n)
        )
      }, Effect.orDie)

      const stop = (jobId: string, reason: StatusReason) =>
        Effect.asVoid(Effect.orDie(sql.unsafe(STOP, [jobId, new Date(now()), reason])))

      const funds = Effect.fnUntraced(function* (principal: Principal) {
        const rows = yield* sql.unsafe<{
          readonly available: bigint
          readonly budget_reached: boolean
          readonly budget_remaining: bigint | null
        }>(FUNDS, [principal.workspaceId, principal.environmentId, monthOf(now())])
        const row = rows[0]
        return {
          available: row?.available ?? 0n,
          budgetReached: row?.budget_reached ?? true,
          budgetRemaining: row?.budget_remaining ?? null
        }
      }, Effect.orDie)

      const volume = Effect.fnUntraced(function* (principal: Principal, id: string) {
        const rows = yield* sql.unsafe<{ readonly region: string; readonly attached: boolean }>(
          `select region, attached_to is not null as attached from volumes where id = $1 and workspace_id = $2 and environment_id = $3`,
          [id, principal.workspaceId, principal.environmentId]
        )
        return rows[0]
      }, Effect.orDie)

      return JobListStore.of({ find, list, stop, funds, volume })
    })
  )
}
