/**
 * Events that a change of a job, machine, video or budget records in its own statement, for later delivery.
 *
 * `id` is drawn while the row of the resource is locked, so the events of a resource are in the order of its changes, whichever
 * replica made them. A UUID v7 would follow the replicas' clocks. Over all resources ids are not in the order of commits: a
 * reader that continues from an id must wait for older transactions that are still open. There is no foreign key and no second index: a
 * change pays for both. `data` holds the changed fields of the row; the row has the rest.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  `create table if not exists outbox_events (
    id int8 generated always as identity primary key, workspace_id uuid not null, environment_id uuid not null,
    type text not null, resource_type text not null check (resource_type in ('job', 'instance', 'video', 'budget')),
    resource_id uuid not null, data jsonb not null, created_at timestamptz not null)`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
