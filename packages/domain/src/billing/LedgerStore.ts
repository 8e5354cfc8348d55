/** Reads and credits the ledger of an account: balance, funds, transactions. */
import { Clock, Context, Crypto, Effect, Layer, Schema } from "effect"
import * as PgClient from "@effect/sql-pg/PgClient"
import type { Principal } from "../access/Principal.ts"
import type { NanoUsd } from "./Money.ts"
import { type Page, type PageRequest, pageOf } from "../database/Page.ts"
import { rowsOf, totalOf } from "../database/RowDecoder.ts"
import { type Balance, type Funds, type Transaction, transactionKinds } from "./Account.ts"
import { FUNDING_ACCOUNT } from "./Ledger.ts"
import { monthOf } from "./Month.ts"
import { paysForMs } from "./Money.ts"

const TransactionRow = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(transactionKinds),
  amount: Schema.BigInt,
  balance_after: Schema.BigInt,
  description: Schema.String,
  resource_type: Schema.NullOr(Schema.String),
  resource_id: Schema.NullOr(Schema.String),
  created_at: Schema.Date
})
const transactionRows = rowsOf("LedgerStore", TransactionRow)
const amountRows = rowsOf("LedgerStore", Schema.Struct({ amount: Schema.BigInt }))
const balanceRows = rowsOf(
  "LedgerStore",
  Schema.Struct({ balance: Schema.BigInt, held: Schema.BigInt, rate: Schema.BigInt, accrued: Schema.BigInt })
)
const fundsRows = rowsOf(
  "LedgerStore",
  Schema.Struct({
    available: Schema.BigInt,
    budget_reached: Schema.Boolean,
    budget_remaining: Schema.NullOr(Schema.BigInt)
  })
)

/** $1 transaction, $2 account, $3 amount, $4 reference, $5 now. The transaction's id is made of the reference: once is enough. */
const CREDIT = `with locked_account as materialized (
  select id, balance, held
  from accounts
  where id = $2
  for update
),
new_transaction as (
  insert into txns (id, kind, description, resource_type, resource_id, created_at)
  select $1, 'credit', 'Credit', 'credit', $4, $5::timestamptz
  from locked_account
  on conflict (id) do nothing
  returning id
),
new_entries as (
  insert into entries (txn_id, account_id, amount, balance_after)
  select new_transaction.id, locked_account.id, $3::int8, locked_account.balance + $3::int8
  from new_transaction, locked_account
  union all
  select new_transaction.id, '${FUNDING_ACCOUNT}'::uuid, -($3::int8), null
  from new_transaction
)
update accounts
set balance = locked_account.balance + $3::int8, held = locked_account.held
from locked_account, new_transaction
where accounts.id = locked_account.id
returning accounts.id`

/** $1 account, $2 now. What its machines cost an hour, and what they have run up since they run. */
const BALANCE = `select a.balance, a.held,
  coalesce((
    select sum(m.price)
    from machines m
    where m.workspace_id = a.id and m.running_at is not null and m.stopped_at is null
  ), 0)::int8 as rate,
  coalesce((
    select sum(floor(m.price * extract(epoch from ($2::timestamptz - m.running_at)) / 3600))
    from machines m
    where m.workspace_id = a.id and m.running_at is not null and m.stopped_at is null
  ), 0)::int8 as accrued
from accounts a
where a.id = $1`

/** $1 workspace, $2 environment, $3 first day of the month. */
const FUNDS = `select a.balance - a.held as available, budget_reached(e, $3::date) as budget_reached,
  case
    when e.monthly_budget is not null then greatest(0, e.monthly_budget - spent_in(e, $3::date))
  end as budget_remaining
from accounts a, environments e
where a.id = $1 and e.id = $2 and e.workspace_id = $1`

/** $1 account, $2 the last transaction of the page before, $3 how many. */
const TRANSACTIONS = `select t.id, t.kind, n.amount, n.balance_after, t.description, t.resource_type, t.resource_id, t.created_at
from entries n
join txns t on t.id = n.txn_id
where n.account_id = $1
  and ($2::uuid is null or n.seq < (select seq from entries where txn_id = $2 and account_id = $1))
order by n.seq desc
limit $3`

export class LedgerStore extends Context.Service<
  LedgerStore,
  {
    /** Credits a reference once. Returns the amount that an earlier call credited, or undefined if this call did. */
    readonly credit: (accountId: string, amount: NanoUsd, reference: string) => Effect.Effect<NanoUsd | undefined>
    readonly balance: (accountId: string) => Effect.Effect<Balance>
    /** The available balance and the rest of the environment's budget. */
    readonly funds: (principal: Principal) => Effect.Effect<Funds>
    readonly transactions: (accountId: string, page: PageRequest) => Effect.Effect<Page<Transaction>>
  }
>()("@sluice/domain/billing/LedgerStore") {
  static readonly layer = Layer.effect(
    LedgerStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const crypto = yield* Crypto.Crypto
      const clock = yield* Clock.Clock
      const now = () => clock.currentTimeMillisUnsafe()

      const credit = Effect.fnUntraced(function* (accountId: string, amount: NanoUsd, reference: string) {
        const digest = yield* crypto.digest("SHA-256", new TextEncoder().encode(`credit/${accountId}/${reference}`))
        const id = uuidOf(digest)
        const credited = yield* sql.unsafe(CREDIT, [id, accountId, amount, reference, new Date(now())])
        if (credited.length > 0) return undefined
        const earlier = yield* sql`select amount from entries where txn_id = ${id} and account_id = ${accountId}`
        return amountRows(earlier)[0]?.amount
      }, Effect.orDie)

      const balance = Effect.fnUntraced(function* (accountId: string) {
        const at = now()
        const rows = yield* sql.unsafe(BALANCE, [accountId, new Date(at)])
        const row = balanceRows(rows)[0] ?? { balance: 0n, held: 0n, rate: 0n, accrued: 0n }
        const left = row.balance - row.accrued
        return {
          balance: row.balance,
          held: row.held,
          accruingPerHour: row.rate,
          runsOutAt: row.rate === 0n ? null : new Date(at + Math.min(paysForMs(row.rate, left), FAR_MS))
        }
      }, Effect.orDie)

      const funds = Effect.fnUntraced(function* (principal: Principal) {
        const rows = yield* sql.unsafe(FUNDS, [principal.workspaceId, principal.environmentId, monthOf(now())])
        const row = fundsRows(rows)[0]
        return {
          available: row?.available ?? 0n,
          budgetReached: row?.budget_reached ?? true,
          budgetRemaining: row?.budget_remaining ?? null
        }
      }, Effect.orDie)

      const transactions = Effect.fnUntraced(function* (accountId: string, page: PageRequest) {
        const [rows, counts] = yield* Effect.all([
          sql.unsafe(TRANSACTIONS, [accountId, page.after ?? null, page.limit + 1]),
          sql.unsafe(`select count(*) as total from entries where account_id = $1`, [accountId])
        ])
        const items = transactionRows(rows).map((row) => ({
          id: row.id,
          kind: row.kind,
          amount: row.amount,
          balanceAfter: row.balance_after,
          description: row.description,
          resourceType: row.resource_type,
          resourceId: row.resource_id,
          createdAt: row.created_at
        }))
        return pageOf<Transaction>(items, page, totalOf(counts))
      }, Effect.orDie)

      return LedgerStore.of({ credit, balance, funds, transactions })
    })
  )
}

/** A UUID (version 8: custom) made of the first bytes of a digest. */
const uuidOf = (digest: Uint8Array): string => {
  const bytes = digest.slice(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}

/** A thousand years: what runs out later does not run out. */
const FAR_MS = 31_556_952_000_000
