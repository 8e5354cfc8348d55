/** The SQL of budgets: the spending of a month, the running machines, and the change of an environment whose budget is reached. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { BatchSql, RelaxedSql } from "../database/Clients.ts"
import { type Claims, claiming, ENDED, GONE, makeClaims, stopAsked, wakeNow } from "../database/ReconciledStore.ts"
import { budgetEvent, MACHINE_COLUMNS, MACHINE_EVENT, recordedEvents } from "../database/Outbox.sql.ts"
import { Replica } from "../database/Replica.ts"
import { rowsOf } from "../database/RowDecoder.ts"
import { statement } from "../database/Statement.ts"
import { monthOf } from "./Month.ts"
import type { NanoUsd } from "./Money.ts"

/** An environment with a budget, claimed, with all that counts against the budget of its month. */
export interface ClaimedBudget {
  readonly id: string
  readonly budget: NanoUsd
  /** The start of the current UTC month, in Unix milliseconds. */
  readonly month: number
  /** Settled in this month. */
  readonly spent: NanoUsd
  readonly fence: bigint
  readonly events: bigint
  readonly running: ReadonlyArray<{ readonly price: NanoUsd; readonly since: number }>
}

const Row = Schema.Struct({
  id: Schema.String,
  budget: Schema.BigInt,
  month: Schema.Date,
  spent: Schema.BigInt,
  fence: Schema.BigInt,
  events: Schema.BigInt,
  running: Schema.NullOr(Schema.Array(Schema.Struct({ price: Schema.String, since: Schema.String })))
})
const claimedRows = rowsOf("BudgetStore", Row)
const wakeRows = rowsOf("BudgetStore", Schema.Struct({ wake_at: Schema.Date }))

const claimedOf = (row: typeof Row.Type): ClaimedBudget => ({
  ...row,
  month: row.month.getTime(),
  running: (row.running ?? []).map(({ price, since }) => ({ price: BigInt(price), since: Date.parse(since) }))
})

/** The first claim in a new month begins it for all replicas. Marks of the month before no longer count. */
const BEGIN_MONTH = ", month = greatest(month, $5::date), month_spent = spent_in(environments, $5::date)"

const CLAIM = `with claimed_budgets as (
  ${claiming("environments", "monthly_budget is not null", BEGIN_MONTH)}, month::timestamp at time zone 'UTC' as began
)
select c.id, c.monthly_budget as budget, c.began as month, c.month_spent as spent, c.fence, c.events,
  (
    select json_agg(json_build_object('price', m.price::text, 'since', greatest(m.running_at, c.began)))
    from machines m
    join jobs j on j.id = m.job_id
    where m.workspace_id = c.workspace_id
      and m.environment_id = c.id
      and m.running_at is not null
      and m.stopped_at is null
  ) as running
from claimed_budgets c`

/**
 * At the budget: marks the month and asks every job of the environment to stop; its machine in the same statement. Jobs and
 * machines are locked first, as everywhere: commits of jobs lock the environment while they hold theirs.
 */
const REACHED = statement(
  [
    `locked_jobs as materialized (
  select id, machine_id
  from jobs
  where environment_id = $1
    and status not in ${ENDED}
    and stop_reason is null
  order by id
  for no key update
),
locked_machines as materialized (
  select id, status
  from machines
  where id = any(array(select machine_id from locked_jobs))
    and status not in ${GONE}
  order by id
  for no key update
),
locked_environment as materialized (
  select id, budget_reached_on
  from environments
  where id = $1
    and (select count(*) from locked_machines) >= 0
  for no key update
),
marked_environment as (
  update environments
  set budget_reached_on = $4::date, lease_by = null, lease_until = null,
    wake_at = case when events <> $5::int8 then $3::timestamptz else $6::timestamptz end
  from locked_environment
  where environments.id = locked_environment.id
    and lease_by = $2
    and fence = $7::int8
  returning environments.*,
    locked_environment.budget_reached_on is distinct from environments.budget_reached_on as is_news
),
stopped_jobs as (
  update jobs
  set events = events + 1, stop_reason = 'budget_reached', stop_at = $3::timestamptz,
    wake_at = ${wakeNow("$3::timestamptz")}
  where id = any(array(select id from locked_jobs))
    and (select count(*) from marked_environment) > 0
)`,
    `stopped_machines as (
  update machines
  set ${stopAsked("$3::timestamptz", "machines.")}
  from locked_machines
  where machines.id = locked_machines.id
    and (select count(*) from marked_environment) > 0
  returning ${MACHINE_COLUMNS}, machines.status <> locked_machines.status as has_new_status
),
events as (
  select ${budgetEvent("reached")}
  from marked_environment
  where is_news
  union all
  select ${MACHINE_EVENT}
  from stopped_machines
  where has_new_status
)`,
    recordedEvents("$3::timestamptz")
  ],
  "select id from stopped_machines"
)

const LATER = `update environments
set budget_reached_on = null, lease_by = null, lease_until = null,
  wake_at = case when events <> $4::int8 then $3::timestamptz else $5::timestamptz end
where id = $1 and lease_by = $2 and fence = $6::int8
returning wake_at`

export class BudgetStore extends Context.Service<
  BudgetStore,
  Claims<ClaimedBudget> & {
    /** The budget is reached: no further job or request this month, and those that run are asked to stop. */
    readonly reached: (budget: ClaimedBudget, wakeAt: number) => Effect.Effect<void>
    /** Answers when the row wakes: now, where something happened meanwhile; never, where the claim was lost. */
    readonly later: (budget: ClaimedBudget, wakeAt: number) => Effect.Effect<number>
  }
>()("@sluice/domain/billing/BudgetStore") {
  static readonly layer = Layer.effect(
    BudgetStore,
    Effect.gen(function* () {
      const batch = yield* BatchSql
      const relaxed = yield* RelaxedSql
      const replica = yield* Replica
      const clock = yield* Clock.Clock
      const now = () => clock.currentTimeMillisUnsafe()

      const claims = yield* makeClaims({
        table: "environments",
        claim: CLAIM,
        rows: claimedRows,
        of: claimedOf,
        more: (at) => [monthOf(at)]
      })

      const reached = Effect.fnUntraced(function* (budget: ClaimedBudget, wakeAt: number) {
        const at = now()
        yield* batch.unsafe(REACHED, [
          budget.id,
          replica.id,
          new Date(at),
          monthOf(budget.month),
          budget.events,
          new Date(wakeAt),
          budget.fence
        ])
      }, Effect.orDie)

      const later = Effect.fnUntraced(function* (budget: ClaimedBudget, wakeAt: number) {
        const rows = yield* relaxed.unsafe(LATER, [
          budget.id,
          replica.id,
          new Date(now()),
          budget.events,
          new Date(wakeAt),
          budget.fence
        ])
        return wakeRows(rows)[0]?.wake_at.getTime() ?? Number.POSITIVE_INFINITY
      }, Effect.orDie)

      return BudgetStore.of({ ...claims, reached, later })
    })
  )
}
