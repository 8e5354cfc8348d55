/**
 * The statements that commit steps of machines: the facts, the claim of the machine's job for the same replica, the return of
 * its volume. A step whose claim was lost writes nothing of it.
 */
import { ENDED, GONE } from "../database/ReconciledStore.ts"
import { MACHINE_COLUMNS, MACHINE_EVENT, recordedEvents } from "../database/Outbox.sql.ts"
import { statement } from "../database/Statement.ts"

const STEPS = `steps as materialized (
  select *
  from json_to_recordset($1::json) as step(
    id uuid, fence int8, events int8, job_id uuid, keep boolean, wake_job boolean, wake_at timestamptz,
    status text, requested_at timestamptz, running_at timestamptz, command_started_at timestamptz,
    command_exited_at timestamptz, exit_code int4, exit_why text, stop_requested_at timestamptz, stopped_at timestamptz,
    absent_since timestamptz, failure text, volume_bytes int8
  )
)`

/** Locked in their order before any is written: an update takes its rows as they come. */
const lockedMachines = (after: string) => `locked_machines as materialized (
  select id, status
  from machines
  where id = any(array(select id from steps))
    and ${after}
  order by id
  for no key update
)`

/**
 * An event that came during the step has raised its count: the machine is due again at once. A kept claim stays as it is. A
 * step that has not seen a wish to stop does not take the machine back to running.
 */
const WRITTEN_MACHINES = `written_machines as (
  update machines
  set status = case
      when steps.status = 'running' and machines.stop_requested_at is not null then 'stopping'
      else steps.status
    end,
    requested_at = steps.requested_at, running_at = steps.running_at,
    command_started_at = steps.command_started_at, command_exited_at = steps.command_exited_at,
    exit_code = steps.exit_code, exit_why = steps.exit_why,
    stop_requested_at = coalesce(machines.stop_requested_at, steps.stop_requested_at),
    stopped_at = steps.stopped_at, absent_since = steps.absent_since, failure = steps.failure,
    lease_by = case when steps.keep then machines.lease_by end,
    lease_until = case when steps.keep then machines.lease_until end,
    wake_at = case
      when steps.keep then machines.wake_at
      when machines.events <> steps.events then $3::timestamptz
      else steps.wake_at
    end
  from steps
  join locked_machines on locked_machines.id = steps.id
  where machines.id = steps.id
    and machines.id = any(array(select id from locked_machines))
    and machines.lease_by = $2
    and machines.fence = steps.fence
  returning ${MACHINE_COLUMNS}, machines.wake_at, machines.status <> locked_machines.status as has_new_status
)`

const EVENTS = `events as (
  select ${MACHINE_EVENT}
  from written_machines
  where has_new_status
),
${recordedEvents("$3::timestamptz")}`

const LOCKED_JOBS = `locked_jobs as materialized (
  select id, lease_until is null or lease_until <= $3::timestamptz as is_free
  from jobs
  where id = any(array(select job_id from steps where wake_job))
    and status not in ${ENDED}
  order by id
  for update
)`

/** Claims a job that no replica steps. A job in a step sees the change by its count of events. */
const TOLD_JOBS = `woken_jobs as (
  update jobs
  set events = jobs.events + 1,
    fence = jobs.fence + case when is_free then 1 else 0 end,
    lease_by = case when is_free then $2 else jobs.lease_by end,
    lease_until = case when is_free then $4::timestamptz else jobs.lease_until end,
    wake_at = case when is_free then $3::timestamptz else jobs.wake_at end
  from steps
  join written_machines on written_machines.id = steps.id
  join locked_jobs on locked_jobs.id = steps.job_id
  where jobs.id = locked_jobs.id
    and jobs.id = any(array(select id from locked_jobs))
  returning jobs.*, is_free as is_claimed, steps.id as woken_by
),
detached_volumes as (
  update volumes
  set attached_to = null, used_bytes = coalesce(steps.volume_bytes, volumes.used_bytes)
  from steps
  join written_machines on written_machines.id = steps.id
  where volumes.attached_to = steps.id
    and steps.status in ${GONE}
)`

/** $1 the steps as JSON, $2 replica, $3 now. For changes that concern no job and no volume. */
export const COMMIT_MACHINES_ALONE = statement(
  [STEPS, lockedMachines("true"), WRITTEN_MACHINES, EVENTS],
  "select id as written, wake_at as written_wake_at, null as id from written_machines"
)

/** $4 the end of a job's claim. Answers each machine that was written, with its job where that was claimed. */
export const COMMIT_MACHINES = statement(
  [STEPS, LOCKED_JOBS, lockedMachines("(select count(*) from locked_jobs) >= 0"), WRITTEN_MACHINES, TOLD_JOBS, EVENTS],
  `select written_machines.id as written, written_machines.wake_at as written_wake_at, woken_jobs.*,
  (select holds.amount from holds where holds.id = woken_jobs.id and holds.state = 'open') as hold
from written_machines
left join woken_jobs on woken_jobs.woken_by = written_machines.id and woken_jobs.is_claimed`
)
