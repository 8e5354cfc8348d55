/** Workspaces for store suites: a workspace with money, an environment, and who asks for it. */
import { PgClient } from "@effect/sql-pg"
import { allScopes, type Principal } from "@sluice/domain/access/Principal"
import { monthOf } from "@sluice/domain/billing/Month"
import type { NanoUsd } from "@sluice/domain/billing/Money"
import { Clock, Crypto, Effect } from "effect"

export interface TenantOptions {
  readonly credit?: NanoUsd
  readonly budget?: NanoUsd
}

/** Makes a workspace, its account with `credit` (booked against funding), and an environment. */
export const makeTenant = Effect.fnUntraced(function* (options: TenantOptions = {}) {
  const sql = yield* PgClient.PgClient
  const crypto = yield* Crypto.Crypto
  const now = yield* Clock.currentTimeMillis
  const id = crypto.randomUUIDv7()
  const [workspaceId, environmentId, keyId, txnId] = [yield* id, yield* id, yield* id, yield* id]
  const credit = options.credit ?? 100_000_000_000n
  const at = new Date(now)
  yield* sql.unsafe(`insert into workspaces (id, name, created_at) values ($1, $2, $3)`, [workspaceId, workspaceId, at])
  yield* sql.unsafe(`insert into accounts (id, balance) values ($1, $2::int8)`, [workspaceId, credit])
  yield* sql.unsafe(
    `insert into environments (id, workspace_id, name, is_default, monthly_budget, month, created_at, wake_at)
       values ($1, $2, 'default', true, $3::int8, $4::date, $5, $5)`,
    [environmentId, workspaceId, options.budget ?? null, monthOf(now), at]
  )
  if (credit > 0n) {
    yield* sql.unsafe(`insert into txns (id, kind, description, created_at) values ($1, 'credit', 'Credit', $2)`, [
      txnId,
      at
    ])
    yield* sql.unsafe(
      `insert into entries (txn_id, account_id, amount, balance_after) values ($1, $2, $3::int8, $3::int8),
         ($1, '00000000-0000-7000-8000-000000000002', -($3::int8), null)`,
      [txnId, workspaceId, credit]
    )
  }
  const principal: Principal = {
    workspaceId,
    keyId,
    scopes: allScopes,
    environmentId,
    environmentName: "default",
    rateLimitRpm: 600
  }
  return principal
})

/**
 * The books: every account's cached balance and hold are what its entries and open holds say, all entries sum to zero, and
 * no balance is below what is held. Answers what is wrong; nothing is, when it is empty.
 */
export const auditBooks = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return yield* sql.unsafe<{ readonly problem: string }>(
    `select 'entries sum to ' || sum(amount) as problem from entries having sum(amount) <> 0
     union all select 'txn ' || txn_id || ' sums to ' || sum(amount) from entries group by txn_id having sum(amount) <> 0
     union all select 'account ' || a.id || ' has ' || a.balance || ', its entries say ' || coalesce(s.sum, 0) from accounts a
       left join (select account_id, sum(amount) as sum from entries group by account_id) s on s.account_id = a.id where a.balance <> coalesce(s.sum, 0)
     union all select 'account ' || a.id || ' holds ' || a.held || ', its holds say ' || coalesce(s.sum, 0) from accounts a
       left join (select account_id, sum(amount) as sum from holds where state = 'open' group by account_id) s on s.account_id = a.id where a.held <> coalesce(s.sum, 0)
     union all select 'account ' || id || ' is below what it holds' from accounts where balance < held`
  )
})
