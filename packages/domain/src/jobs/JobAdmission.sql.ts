/**
 * The statement that admits jobs: hold, job, machine, volume and the claim of the machine, for many submissions as if one
 * came after the other. A submission that is refused writes nothing.
 */
import { UPDATED_ACCOUNTS } from "../billing/Posting.sql.ts"
import { statement } from "../database/Statement.ts"

const SUBMISSIONS = `submissions as materialized (
  select *
  from json_to_recordset($1::json) as submission(
    ord int4, job_id uuid, machine_id uuid, workspace_id uuid, environment_id uuid, volume_id uuid,
    name text, spec json, machine_spec json, labels jsonb, sealed text, price int8, amount int8,
    launch boolean, wait_minutes int4, attempt_key text, locked_until timestamptz
  )
)`

const LOCKS = `own_attempts as materialized (
  select k.attempt_id
  from submissions
  join idempotency_keys k on k.workspace_id = submissions.workspace_id and k.key = submissions.attempt_key
  where k.attempt_id = submissions.job_id
    and k.locked_until = submissions.locked_until
    and k.response is null
  order by k.attempt_id
  for share of k
),
locked_accounts as materialized (
  select id, balance, held, balance - held as available
  from accounts
  where id = any(array(select workspace_id from submissions))
    and (select count(*) from own_attempts) >= 0
  order by id
  for update
),
free_volumes as materialized (
  select id, environment_id
  from volumes
  where id = any(array(select volume_id from submissions where volume_id is not null))
    and (select count(*) from locked_accounts) >= 0
    and attached_to is null
  order by id
  for update
),
budgets as materialized (
  select id, workspace_id, budget_reached(environments, $4::date) as is_reached
  from environments
  where id = any(array(select environment_id from submissions))
)`

/**
 * A submission is refused in the order that callers are promised. The aggregate `admit` then walks the rest of each account:
 * the sum grows by each amount that still fits, so a submission is admitted where it made the sum grow.
 */
const DECISIONS = `judged_submissions as materialized (
  select submissions.*, locked_accounts.available,
    case
      when (select id from jobs where id = job_id and jobs.machine_id = submissions.machine_id) is not null then 'admitted'
      when (select id from jobs where id = job_id) is not null then 'repeated'
      when attempt_key is not null and own_attempts.attempt_id is null then 'taken_over'
      when budgets.id is null or budgets.is_reached then 'budget_reached'
      when volume_id is not null and free_volumes.id is null then 'volume_attached'
      when locked_accounts.id is null then 'insufficient_credits'
    end as refused
  from submissions
  left join own_attempts on own_attempts.attempt_id = submissions.job_id
  left join locked_accounts on locked_accounts.id = submissions.workspace_id
  left join budgets on budgets.id = submissions.environment_id and budgets.workspace_id = submissions.workspace_id
  left join free_volumes on free_volumes.id = submissions.volume_id
    and free_volumes.environment_id = submissions.environment_id
),
summed_submissions as materialized (
  select *,
    admit(case when refused is null then amount end, available)
      over (partition by workspace_id order by ord rows unbounded preceding) as sum_after
  from judged_submissions
),
decided_submissions as materialized (
  select *,
    refused is null and sum_after > lag(sum_after, 1, 0::int8) over (partition by workspace_id order by ord) as is_admitted
  from summed_submissions
),
admitted_submissions as materialized (
  select *
  from decided_submissions
  where is_admitted
)`

const MONEY = `new_holds as (
  insert into holds (id, account_id, amount)
  select job_id, workspace_id, amount
  from admitted_submissions
),
account_changes as materialized (
  select workspace_id as account_id, 0::int8 as charged, sum(amount)::int8 as held
  from admitted_submissions
  group by workspace_id
),
${UPDATED_ACCOUNTS}`

/** A machine to launch is recorded with its launch asked for, and claimed: the first fence. */
const ROWS = `attached_volumes as (
  update volumes
  set attached_to = admitted_submissions.machine_id
  from admitted_submissions
  where volumes.id = admitted_submissions.volume_id
),
new_jobs as (
  insert into jobs (id, workspace_id, environment_id, machine_id, name, status, spec, price, volume_id, labels, created_at, wake_at)
  select job_id, workspace_id, environment_id, machine_id, name, 'queued', spec, price, volume_id, labels,
    $2::timestamptz, $2::timestamptz + wait_minutes * interval '1 minute'
  from admitted_submissions
),
new_machines as (
  insert into machines (id, workspace_id, environment_id, job_id, name, status, spec, price, volume_id, sealed,
    requested_at, created_at, wake_at, lease_by, lease_until, fence)
  select machine_id, workspace_id, environment_id, job_id, name, 'wanted', machine_spec, price, volume_id, decode(sealed, 'base64'),
    case when launch then $2::timestamptz end, $2::timestamptz,
    case when launch then $5::timestamptz else $6::timestamptz end,
    case when launch then $3 end,
    case when launch then $5::timestamptz end,
    case when launch then 1 else 0 end
  from admitted_submissions
)`

/**
 * $1 the submissions as JSON, $2 now, $3 replica, $4 first day of the month, $5 end of the claim, $6 when a machine that
 * waits is looked at first. Answers one row for each submission; `available` is the money that was left at its turn.
 */
export const ADMIT_JOBS = statement(
  [SUBMISSIONS, LOCKS, DECISIONS, MONEY, ROWS],
  `select ord,
  case when is_admitted then null else coalesce(refused, 'insufficient_credits') end as refused,
  available - lag(sum_after, 1, 0::int8) over (partition by workspace_id order by ord) as available
from decided_submissions
order by ord`
)
