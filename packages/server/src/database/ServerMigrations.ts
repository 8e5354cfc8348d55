/**
 * Migrates the tables of the server itself, which the domain does not know: the anchor of its clock and the master keys
 * in use. Their history is separate from the domain's, with the same rule: a shipped migration never changes.
 */
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"

const first = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table world_clock (
    id int4 primary key check (id = 1), real_ms int8 not null, world_ms int8 not null, speed float8 not null check (speed > 0))`
  yield* sql`create table master_keys (id text primary key, since timestamptz not null)`
})

/** Migrates these tables to their newest version. */
export const migrateServer = Migrator.make({})({
  loader: Migrator.fromRecord({ "0001_process": first }),
  table: "server_migrations"
})
