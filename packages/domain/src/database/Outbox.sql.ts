/**
 * The last CTE of a statement that changes a state: inserts one row of `outbox_events` for each row of the CTE `events`.
 *
 * A statement defines `events` as `workspace_id, environment_id, resource_type, resource_id, name, data`, from the rows that it
 * has written. So the row of the resource is locked before its event draws an id. This CTE locks nothing else.
 */

/** `now`: the statement's parameter for the time, with its type. The type of an event is `job.running`, `instance.stopped`. */
export const recordedEvents = (now: string): string => `recorded_events as (
  insert into outbox_events (workspace_id, environment_id, type, resource_type, resource_id, data, created_at)
  select workspace_id, environment_id, resource_type || '.' || name, resource_type, resource_id, data, ${now}
  from events
)`

const SCOPE = "workspace_id, environment_id"

/** The columns that a statement returns of the rows that it has written, for their events. */
export const JOB_COLUMNS = `jobs.id, jobs.workspace_id, jobs.environment_id, jobs.status, jobs.started_at, jobs.ended_at,
    jobs.exit_code, jobs.error, jobs.status_reason, jobs.cost`
export const MACHINE_COLUMNS = `machines.id, machines.workspace_id, machines.environment_id, machines.status,
    machines.running_at, machines.stopped_at, machines.failure`

/** The event of a job: the fields that change with its status. Amounts are texts, because a JSON number holds 53 bits. */
export const JOB_EVENT = `${SCOPE}, 'job' as resource_type, id as resource_id, status as name,
    jsonb_strip_nulls(jsonb_build_object('status', status, 'started_at', started_at, 'ended_at', ended_at,
      'exit_code', exit_code, 'error', error, 'status_reason', status_reason, 'cost', cost::text)) as data`

export const MACHINE_EVENT = `${SCOPE}, 'instance' as resource_type, id as resource_id, status as name,
    jsonb_strip_nulls(jsonb_build_object('status', status, 'running_at', running_at, 'stopped_at', stopped_at,
      'failure', failure)) as data`

export const VIDEO_EVENT = `${SCOPE}, 'video' as resource_type, id as resource_id, status as name,
    jsonb_strip_nulls(jsonb_build_object('status', status, 'percent', percent, 'failure', failure, 'ended_at', ended_at,
      'cost', cost::text)) as data`

/** The event of a budget, from the columns of `environments`. `name` is the change: `reached` or `changed`. */
export const budgetEvent = (
  name: string
): string => `workspace_id, id as environment_id, 'budget' as resource_type, id as resource_id, '${name}' as name,
    jsonb_build_object('monthly_budget', monthly_budget::text, 'month', month, 'month_spent', month_spent::text) as data`
