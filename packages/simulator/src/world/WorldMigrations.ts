/**
 * Migrates the tables of the simulated world. They are the world itself, not the service's knowledge of it, so they
 * outlive every server and have a history of their own. A migration that has shipped never changes.
 */
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  `create table sim_capacity (
    gpu_type text not null, region text not null, total int4 not null, used int4 not null default 0,
    primary key (gpu_type, region))`,
  // launched_at is null for a key that was stopped before its launch; plan and sealed are null after the release
  `create table sim_machines (
    key text primary key, ordinal int8 generated always as identity, gpu_type text, region text, gpu_count int4, plan json, sealed bytea,
    volume_id text, mounted text, launched_at timestamptz, stop_at timestamptz, stopped_at timestamptz, saved boolean not null default false,
    volume_bytes int8, overran boolean not null default false, freed boolean not null default false,
    released boolean not null default false)`,
  `create index sim_machines_taken on sim_machines (stopped_at) where not freed`,
  `create index sim_machines_released on sim_machines (stopped_at) where released`,
  `create index sim_machines_listed on sim_machines (ordinal) where not released`,
  // A machine that saves makes a new version of its volume. The version that it mounted stays until the machine is
  // released, so that its run can be repeated.
  `create table sim_volumes (volume_id text primary key, version text not null)`,
  `create table sim_files (
    volume_id text not null, version text not null, path text not null, kind text not null check (kind in ('File', 'Directory', 'Link')),
    mode int4 not null, bytes bytea not null, target text not null, primary key (volume_id, version, path))`,
  // frees the capacity of machines that have stopped
  `create function sim_free(moment timestamptz) returns void language plpgsql as $$ begin
    with gone as (
      update sim_machines set freed = true where not freed and saved and stopped_at <= moment returning gpu_type, region, gpu_count
    ), sums as (
      select gpu_type, region, sum(gpu_count) as n from gone where gpu_type is not null group by gpu_type, region
    )
    update sim_capacity c set used = c.used - sums.n from sums where c.gpu_type = sums.gpu_type and c.region = sums.region;
  end $$`,
  // launches machines in their order; returns the ordinal of the new machine, -1 for a known key, null when no region
  // has room
  `create function sim_launch(launches json, moment timestamptz) returns setof int8 language plpgsql as $$
  declare r record; place text; given int8; attempt int4;
  begin
    -- replicas take turns: their batches want the same capacity in different orders
    perform pg_advisory_xact_lock(hashtext('sim_launch'));
    for r in select * from json_to_recordset(launches) as x(
      key text, gpu_type text, region text, gpu_count int4, plan text, sealed text, volume_id text)
    loop
      perform 1 from sim_machines where key = r.key;
      if found then return next -1; continue; end if;
      place := null;
      for attempt in 1..2 loop
        update sim_capacity c set used = c.used + r.gpu_count where c.gpu_type = r.gpu_type and c.region = (
          select o.region from sim_capacity o where o.gpu_type = r.gpu_type and o.used + r.gpu_count <= o.total
          order by (o.region = r.region) desc nulls last, o.region limit 1) and c.used + r.gpu_count <= c.total
        returning c.region into place;
        exit when place is not null;
        perform sim_free(moment);
      end loop;
      if place is null then return next null; continue; end if;
      insert into sim_machines (key, gpu_type, region, gpu_count, plan, sealed, volume_id, mounted, launched_at)
        values (r.key, r.gpu_type, place, r.gpu_count, r.plan::json, decode(r.sealed, 'base64'), r.volume_id,
          (select v.version from sim_volumes v where v.volume_id = r.volume_id), moment)
        on conflict (key) do nothing returning ordinal into given;
      if given is null then
        update sim_capacity c set used = c.used - r.gpu_count where c.gpu_type = r.gpu_type and c.region = place;
        return next -1;
      else
        return next given;
      end if;
      given := null;
    end loop;
  end $$`
]

const first = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})

/** Migrates the world's tables to their newest version. */
export const migrateWorld = Migrator.make({})({
  loader: Migrator.fromRecord({ "0001_world": first }),
  table: "sluice_simulator_migrations"
})

/** For code that prepares a database in advance. `source` is the file that defines the tables. */
export const worldTables = { migrate: Effect.asVoid(migrateWorld), source: import.meta.filename }
