/**
 * Compares the outbox with the changes of a run: triggers note each status that a row takes, and the end of the run compares the
 * notes with the events. A change that is rolled back leaves no note and must leave no event.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"

const NOTES = `create table if not exists simulation_changes (
    seq int8 generated always as identity primary key, resource_type text not null, resource_id uuid not null, status text not null)`

const NOTE = `create or replace function simulation_changed() returns trigger language plpgsql as $$
  begin
    insert into simulation_changes (resource_type, resource_id, status) values (tg_argv[0], new.id, new.status);
    return null;
  end $$`

/** The insert of a machine is no change: it is wanted because its job is queued. */
const NOTED: ReadonlyArray<readonly [name: string, on: string, table: string, resourceType: string]> = [
  ["simulation_jobs_begun", "insert", "jobs", "job"],
  ["simulation_videos_begun", "insert", "videos", "video"],
  ["simulation_jobs_changed", "update", "jobs", "job"],
  ["simulation_machines_changed", "update", "machines", "instance"],
  ["simulation_videos_changed", "update", "videos", "video"]
]

/** Installs the triggers, once for a database, before its first row. A repeat is harmless. */
export const installNotes = (sql: PgClient.PgClient): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* sql.unsafe(NOTES)
    yield* sql.unsafe(NOTE)
    for (const [name, on, table, resourceType] of NOTED) {
      yield* sql.unsafe(`create or replace trigger ${name} after ${on} on ${table} for each row
        ${on === "update" ? "when (new.status is distinct from old.status)" : ""} execute function simulation_changed('${resourceType}')`)
    }
  }).pipe(Effect.orDie)

/** The nth event of a resource must name its nth status. */
const COMPARED = `with noted_changes as (
  select resource_type, resource_id, resource_type || '.' || status as type,
    row_number() over (partition by resource_type, resource_id order by seq) as n
  from simulation_changes
),
recorded_events as (
  select resource_type, resource_id, type, row_number() over (partition by resource_type, resource_id order by id) as n
  from outbox_events
  where resource_type <> 'budget'
)
select coalesce(changed.resource_type, recorded.resource_type) || ' ' || coalesce(changed.resource_id, recorded.resource_id)
  || ' took ' || coalesce(changed.type, 'no status') || ', its event is ' || coalesce(recorded.type, 'missing') as found
from noted_changes changed
full join recorded_events recorded using (resource_type, resource_id, n)
where changed.type is distinct from recorded.type
order by resource_id, n
limit 100`

export const eventEnds = {
  changesHaveOneEvent: (sql: PgClient.PgClient): Effect.Effect<ReadonlyArray<string>> =>
    sql.unsafe<{ readonly found: string }>(COMPARED).pipe(
      Effect.map((rows) => rows.map(({ found }) => found)),
      Effect.orDie
    )
}
