/** Video orders. The reference picture is kept until the model has it. The bytes of a video stay with its provider. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  `create table videos (
    id uuid primary key, workspace_id uuid not null, environment_id uuid not null, key_id uuid not null, model text not null,
    prompt text not null, size text not null, seconds int4 not null, price int8 not null check (price >= 0),
    picture bytea, picture_type text,
    status text not null check (status in ('queued', 'in_progress', 'completed', 'failed')), percent int4 not null default 0,
    failure text, reference text, cost int8, created_at timestamptz not null, ended_at timestamptz, deleted_at timestamptz,
    wake_at timestamptz not null, lease_by text, lease_until timestamptz, fence int8 not null default 0, events int8 not null default 0,
    check ((ended_at is not null) = (status in ('completed', 'failed'))))`,
  `create index videos_due on videos (wake_at) where ended_at is null or deleted_at is not null`,
  `create index videos_list on videos (environment_id, id) where deleted_at is null`,
  `create function ended_video_is_final() returns trigger language plpgsql as $$ begin
     raise exception 'video % has ended and never changes', old.id using errcode = 'check_violation'; end $$`,
  `create trigger videos_ended before update on videos for each row
     when (old.ended_at is not null and (new.status, new.cost, new.ended_at) is distinct from (old.status, old.cost, old.ended_at))
     execute function ended_video_is_final()`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
