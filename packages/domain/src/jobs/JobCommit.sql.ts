/**
 * The statement that commits steps of jobs: the job, the wish to stop its machine, the settlement of its hold, the
 * environment's month, the events. A step whose claim was lost writes nothing of it. Beside it, the wish of a caller to stop a job.
 */
import { posting } from "../billing/Posting.sql.ts"
import { ENDED, GONE, stopAsked, wakeNow } from "../database/ReconciledStore.ts"
import { JOB_COLUMNS, JOB_EVENT, MACHINE_COLUMNS, MACHINE_EVENT, recordedEvents } from "../database/Outbox.sql.ts"
import { statement } from "../database/Statement.ts"

const STEPS = `steps as materialized (
  select *
  from json_to_recordset($1::json) as step(
    id uuid, fence int8, events int8, machine_id uuid, environment_id uuid,
    stop_machine boolean, terminal boolean, began boolean, has_new_status boolean, wake_at timestamptz,
    status text, started_at timestamptz, ended_at timestamptz, stop_reason text, stop_at timestamptz,
    exit_code int4, error text, status_reason text, cost int8,
    charged int8, written_off int8, price int8, running_at timestamptz, description text
  )
)`

const JOBS = `locked_jobs as materialized (
  select id
  from jobs
  where id = any(array(select id from steps))
  order by id
  for no key update
),
-- An event that came during the step has raised events: the job is due again at once.
written_jobs as (
  update jobs
  set status = steps.status, started_at = steps.started_at, ended_at = steps.ended_at,
    stop_reason = coalesce(jobs.stop_reason, steps.stop_reason),
    stop_at = coalesce(jobs.stop_at, steps.stop_at),
    exit_code = steps.exit_code, error = steps.error, status_reason = steps.status_reason, cost = steps.cost,
    lease_by = null, lease_until = null,
    wake_at = case when jobs.events <> steps.events then $3::timestamptz else steps.wake_at end
  from steps
  where jobs.id = steps.id
    and jobs.id = any(array(select id from locked_jobs))
    and jobs.lease_by = $2
    and jobs.fence = steps.fence
  returning ${JOB_COLUMNS}, jobs.wake_at, steps.has_new_status
),
committed_steps as materialized (
  select steps.*
  from steps
  join written_jobs on written_jobs.id = steps.id
)`

const MACHINES = `locked_machines as materialized (
  select id, status
  from machines
  where id = any(array(select machine_id from committed_steps where stop_machine))
  order by id
  for no key update
),
stopped_machines as (
  update machines
  set ${stopAsked("$3::timestamptz", "machines.")}
  from committed_steps
  join locked_machines on locked_machines.id = committed_steps.machine_id
  where machines.id = committed_steps.machine_id
    and committed_steps.stop_machine
    and machines.stop_requested_at is null
    and machines.id = any(array(select id from locked_machines))
    and machines.status not in ${GONE}
  returning ${MACHINE_COLUMNS}, machines.status <> locked_machines.status as has_new_status
)`

const MONEY = `settled_holds as (
  update holds
  set state = case when committed_steps.charged > 0 then 'settled' else 'released' end
  from committed_steps
  where holds.id = committed_steps.id
    and committed_steps.terminal
    and holds.state = 'open'
    and holds.id = any(array(select id from committed_steps where terminal))
  returning holds.id, holds.account_id, holds.amount
),
locked_accounts as materialized (
  select id, balance, held
  from accounts
  where id = any(array(select account_id from settled_holds))
  order by id
  for update
),
bills as materialized (
  select row_number() over (order by committed_steps.id) as ord,
    committed_steps.id as txn_id, settled_holds.account_id, charged, written_off,
    'machine' as kind, description, 'job' as resource_type, committed_steps.id::text as resource_id,
    settled_holds.amount as held
  from committed_steps
  join settled_holds on settled_holds.id = committed_steps.id
),
account_changes as materialized (
  select account_id, sum(charged)::int8 as charged, -sum(held)::int8 as held
  from bills
  group by account_id
)`

/** A job that began to cost or ended is news to its environment's budget. The month bears what the job ran up in that month. */
const MONTHS = `locked_environments as materialized (
  select id, greatest(month, $4::date) as month
  from environments
  where (
      id = any(array(select environment_id from committed_steps where terminal))
      or (id = any(array(select environment_id from committed_steps where began)) and monthly_budget is not null)
    )
    and (select count(*) from locked_accounts) >= 0
  order by id
  for update
),
month_changes as materialized (
  select locked_environments.id as environment_id,
    sum(cost_in(charged + written_off, price, running_at, locked_environments.month))::int8 as charged,
    0::int8 as reserved, true as wakes
  from committed_steps
  join locked_environments on locked_environments.id = committed_steps.environment_id
  where terminal or began
  group by locked_environments.id
)`

const EVENTS = `events as (
  select ${JOB_EVENT}
  from written_jobs
  where has_new_status
  union all
  select ${MACHINE_EVENT}
  from stopped_machines
  where has_new_status
)`

/**
 * $1 the steps as JSON, $2 replica, $3 now, $4 first day of the month. No reader uses `stops`: the query asks for it before
 * `is_limited`, so that the machines are locked before holds and accounts.
 */
export const COMMIT_JOBS = statement(
  [
    STEPS,
    JOBS,
    MACHINES,
    MONEY,
    MONTHS,
    ...posting({ now: "$3::timestamptz", month: "$4::date" }),
    EVENTS,
    recordedEvents("$3::timestamptz")
  ],
  `select written_jobs.id, written_jobs.wake_at,
  (select count(*) from stopped_machines) as stops,
  exists (
    select
    from committed_steps
    join month_spending on month_spending.id = committed_steps.environment_id
    where committed_steps.id = written_jobs.id and month_spending.is_limited
  ) as is_limited
from written_jobs`
)

/** $1 job, $2 now, $3 reason. A job that has ended stays as it is; the first reason stands. */
export const STOP_JOB = statement(
  [
    `stopped_jobs as (
  update jobs
  set events = events + 1,
    cancel_requested_at = coalesce(cancel_requested_at, $2::timestamptz),
    stop_reason = coalesce(stop_reason, $3),
    stop_at = coalesce(stop_at, $2::timestamptz),
    wake_at = ${wakeNow("$2::timestamptz")}
  where id = $1 and status not in ${ENDED}
  returning machine_id
),
locked_machines as materialized (
  select id, status
  from machines
  where id = any(array(select machine_id from stopped_jobs))
    and status not in ${GONE}
  for no key update
),
stopped_machines as (
  update machines
  set ${stopAsked("$2::timestamptz", "machines.")}
  from locked_machines
  where machines.id = locked_machines.id
  returning ${MACHINE_COLUMNS}, machines.status <> locked_machines.status as has_new_status
),
events as (
  select ${MACHINE_EVENT}
  from stopped_machines
  where has_new_status
)`,
    recordedEvents("$2::timestamptz")
  ],
  "select id from stopped_machines"
)
