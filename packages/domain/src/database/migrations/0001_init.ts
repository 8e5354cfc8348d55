/**
 * The first schema. Conventions: ids are UUID v7 given by the caller; times are `timestamptz` given by the caller (never
 * SQL `now()`); amounts are nano-USD `int8`; every reconciled table has `wake_at, lease_by, lease_until, fence, events`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  // access
  `create table workspaces (
    id uuid primary key, name text not null unique, created_at timestamptz not null)`,
  `create table environments (
    id uuid primary key, workspace_id uuid not null references workspaces, name text not null,
    is_default boolean not null, monthly_budget int8 check (monthly_budget >= 0),
    month date not null, month_spent int8 not null default 0, budget_reached_on date, created_at timestamptz not null,
    wake_at timestamptz not null, lease_by text, lease_until timestamptz, fence int8 not null default 0, events int8 not null default 0,
    unique (workspace_id, name))`,
  // Returns whether the budget of month $2 (its first day) is spent. Jobs and inference use this rule. The budget
  // reconciler sets budget_reached_on at the moment at which the spending plus the cost of running machines reaches the
  // budget.
  `create function budget_reached(e environments, m date) returns boolean language sql immutable as
    $$ select e.monthly_budget is not null
       and (e.budget_reached_on = m or (e.month = m and e.month_spent >= e.monthly_budget) or e.monthly_budget = 0) $$`,
  `create index environments_due on environments (wake_at) where monthly_budget is not null`,
  `create table api_keys (
    id uuid primary key, workspace_id uuid not null references workspaces, name text not null, prefix text not null,
    hash bytea not null unique, status text not null check (status in ('active', 'inactive')), scopes json,
    environment_id uuid references environments, rate_limit_rpm int4 not null, last_used_at timestamptz, created_at timestamptz not null)`,
  `create index api_keys_workspace on api_keys (workspace_id, id)`,

  // ledger: an account's id is its workspace's id; the operator's own accounts have fixed ids (billing/Ledger.ts) and no row
  `create table accounts (
    id uuid primary key, balance int8 not null default 0, held int8 not null default 0 check (held >= 0),
    constraint sufficient_funds check (balance - held >= 0))`,
  `create table holds (
    id uuid primary key, account_id uuid not null references accounts, amount int8 not null check (amount > 0),
    state text not null default 'open' check (state in ('open', 'settled', 'released')))`,
  `create index holds_open on holds (account_id) where state = 'open'`,
  `create table txns (
    id uuid primary key, kind text not null check (kind in ('credit', 'machine', 'inference', 'storage', 'adjustment')),
    description text not null, resource_type text, resource_id text, created_at timestamptz not null)`,
  `create table entries (
    seq int8 generated always as identity primary key, txn_id uuid not null references txns, account_id uuid not null,
    amount int8 not null check (amount <> 0), balance_after int8)`,
  `create index entries_account on entries (account_id, seq)`,
  `create function admit_step(spent int8, amount int8, available int8) returns int8 language sql immutable as
    $$ select case when amount is not null and spent + amount <= available then spent + amount else spent end $$`,
  `create aggregate admit(int8, int8) (sfunc = admit_step, stype = int8, initcond = '0')`,

  // inference usage: one row a request that was charged or counted
  `create table usage (
    id uuid primary key, workspace_id uuid not null, environment_id uuid not null, key_id uuid not null, model text not null,
    tokens_in int4 not null, tokens_out int4 not null, cost int8 not null check (cost >= 0), at timestamptz not null)`,
  `create index usage_workspace on usage (workspace_id, at)`,

  // storage
  `create table volumes (
    id uuid primary key, workspace_id uuid not null references workspaces, environment_id uuid not null references environments,
    name text not null, region text not null, size_gb int4 not null, used_bytes int8 not null default 0,
    attached_to uuid unique, created_at timestamptz not null, unique (environment_id, name))`,

  // machines: launched, observed and stopped, for jobs and for rented instances
  `create table machines (
    id uuid primary key, workspace_id uuid not null, environment_id uuid not null, job_id uuid, name text not null,
    status text not null check (status in ('wanted', 'launching', 'running', 'stopping', 'stopped', 'failed')),
    spec json not null, price int8 not null, volume_id uuid, sealed bytea,
    requested_at timestamptz, running_at timestamptz, command_started_at timestamptz, command_exited_at timestamptz,
    exit_code int4, exit_why text, stop_requested_at timestamptz, stopped_at timestamptz,
    absent_since timestamptz, failure text,
    output_bytes int8 not null default 0, created_at timestamptz not null,
    wake_at timestamptz not null, lease_by text, lease_until timestamptz, fence int8 not null default 0, events int8 not null default 0)`,
  `create index machines_due on machines (wake_at) where status not in ('stopped', 'failed')`,
  `create index machines_waiting on machines (created_at) where status = 'wanted' and requested_at is null and stop_requested_at is null`,
  `create index machines_list on machines (environment_id, id)`,
  `create index machines_running on machines (workspace_id) where running_at is not null and stopped_at is null`,
  `create table output_chunks (
    machine_id uuid not null, start int8 not null, bytes bytea not null, primary key (machine_id, start))`,
  `create table output_followers (
    machine_id uuid not null, follower_id uuid not null, position int8 not null, seen_at timestamptz not null,
    primary key (machine_id, follower_id))`,

  // jobs: the life of a command
  `create table jobs (
    id uuid primary key, workspace_id uuid not null, environment_id uuid not null, machine_id uuid not null, name text not null,
    status text not null check (status in ('queued', 'starting', 'running', 'succeeded', 'failed', 'cancelled', 'timed_out')),
    spec json not null, price int8 not null, volume_id uuid, labels jsonb,
    created_at timestamptz not null, started_at timestamptz, ended_at timestamptz, cancel_requested_at timestamptz,
    stop_reason text, stop_at timestamptz, exit_code int4, error text, status_reason text, cost int8,
    wake_at timestamptz not null, lease_by text, lease_until timestamptz, fence int8 not null default 0, events int8 not null default 0,
    check ((ended_at is not null) = (status in ('succeeded', 'failed', 'cancelled', 'timed_out'))))`,
  `create index jobs_due on jobs (wake_at) where status not in ('succeeded', 'failed', 'cancelled', 'timed_out')`,
  `create index jobs_list on jobs (environment_id, id)`,
  `create function terminal_job_is_final() returns trigger language plpgsql as $$ begin
     raise exception 'job % is terminal and never changes', old.id using errcode = 'check_violation'; end $$`,
  `create trigger jobs_terminal before update on jobs for each row
     when (old.status in ('succeeded', 'failed', 'cancelled', 'timed_out')) execute function terminal_job_is_final()`,

  // idempotency of POST: a second run has the same attempt id, under which it creates the same rows
  `create table idempotency_keys (
    workspace_id uuid not null, key text not null, request_hash bytea not null, attempt_id uuid not null,
    locked_until timestamptz not null, response bytea, created_at timestamptz not null, primary key (workspace_id, key))`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
