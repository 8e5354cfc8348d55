/** A workspace with money for tests of metering, and what its books say. */
import { allScopes, type Principal } from "@sluice/domain/access/Principal"
import { FUNDING_ACCOUNT } from "@sluice/domain/billing/Ledger"
import { monthOf } from "@sluice/domain/billing/Month"
import { Replica } from "@sluice/domain/database/Replica"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** A replica on a clock of ordinary speed. */
export const replica = Layer.succeed(Replica, { id: "test", leaseMs: 6_000, scale: 1, lookMs: 1_000 })

const uuid = (kind: number, n: number) => `0000000${kind}-0000-7000-8000-${n.toString(16).padStart(12, "0")}`

export const idOf = {
  request: (n: number) => uuid(4, n),
  principal: (n: number): Principal => ({
    workspaceId: uuid(1, n),
    environmentId: uuid(2, n),
    keyId: uuid(3, n),
    environmentName: "default",
    scopes: allScopes,
    rateLimitRpm: 600
  })
}

/** Workspace `n` with its environment, account and `balance`, the books balanced. */
export const openWorkspace = Effect.fn(function* (n: number, balance: bigint) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const principal = idOf.principal(n)
  const at = new Date(now)
  yield* sql`insert into workspaces (id, name, created_at) values (${principal.workspaceId}, ${`w${n}`}, ${at})`
  yield* sql.unsafe(
    `insert into environments (id, workspace_id, name, is_default, month, created_at, wake_at)
     values ($1, $2, 'default', true, $3::date, $4, $4)`,
    [principal.environmentId, principal.workspaceId, monthOf(now), at]
  )
  yield* sql`insert into accounts (id, balance) values (${principal.workspaceId}, ${balance})`
  if (balance > 0n) {
    const txn = uuid(5, n)
    yield* sql`insert into txns (id, kind, description, created_at) values (${txn}, 'credit', 'start', ${at})`
    yield* sql`insert into entries (txn_id, account_id, amount, balance_after)
      values (${txn}, ${principal.workspaceId}, ${balance}, ${balance}), (${txn}, ${FUNDING_ACCOUNT}, ${-balance}, null)`
  }
  return principal
})

export const setBudget = Effect.fn(function* (principal: Principal, budget: bigint) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update environments set monthly_budget = ${budget} where id = ${principal.environmentId}`
})

/** Balance, held and month's spending, number of usage rows, the sum of all entries (0), and the sum of open holds. */
export const money = Effect.fn(function* (principal: Principal) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Record<"balance" | "held" | "spent" | "usage" | "entries" | "openHolds", bigint>>`
    select a.balance, a.held, e.month_spent as spent,
      (select count(*) from usage where workspace_id = a.id) as usage,
      (select coalesce(sum(amount), 0)::int8 from entries) as entries,
      (select coalesce(sum(amount), 0)::int8 from holds where account_id = a.id and state = 'open') as "openHolds"
    from accounts a join environments e on e.workspace_id = a.id where a.id = ${principal.workspaceId}`
  const [booked] = yield* sql<{ readonly sum: bigint }>`
    select coalesce(sum(amount), 0)::int8 as sum from entries where account_id = ${principal.workspaceId}`
  if (row === undefined || booked?.sum !== row.balance) throw new Error("The balance is not the sum of its entries")
  const amiss = yield* sql`select e.id from environments e where e.reserved <>
    (select coalesce(sum(amount), 0) from holds where environment_id = e.id and state = 'open')`
  if (amiss.length > 0) throw new Error("What is set aside in a budget is not the sum of its open holds")
  const strange = yield* sql`select e.txn_id from (select txn_id, balance_after,
      sum(amount) over (order by seq) as balance from entries where account_id = ${principal.workspaceId}) e
    where balance_after is distinct from balance`
  if (strange.length > 0) throw new Error("An entry does not say the balance that it left")
  const uncharged = yield* sql`select u.id from usage u where u.workspace_id = ${principal.workspaceId} and u.cost <>
    (select coalesce(-sum(amount), 0) from entries where txn_id = u.id and account_id = u.workspace_id)`
  if (uncharged.length > 0) throw new Error("What usage says of a cost is not what was charged")
  const empty = yield* sql`select id from txns t where not exists (select from entries where txn_id = t.id)`
  if (empty.length > 0) throw new Error("A transaction moves no money")
  return row
})

const wait = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))

/** The same once requests have paused and blocks of credit are given back, which happens beside the test. `held`: what then is. */
export const moneyAtRest = Effect.fn(function* (principal: Principal, held = 0n) {
  for (let n = 0; n < 1_000; n++) {
    const found = yield* money(principal)
    if (found.held === held) return found
    yield* wait
  }
  return yield* money(principal)
})
