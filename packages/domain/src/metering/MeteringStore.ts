/**
 * One statement that reserves and settles many requests, each with its own outcome, as if they had come one after the
 * other in the order of the batch.
 *
 * Locks as ARCHITECTURE.md says (Lock order); nobody but the sweep of expired holds locks those of these requests.
 * `admit` walks each environment's rows along its budget, and then each account's along its balance: what does not fit
 * leaves the sum where it is. A row that was done before is `done` and changes nothing.
 */
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { REVENUE_ACCOUNT, WRITE_OFF_ACCOUNT } from "../billing/Ledger.ts"
import { monthOf } from "../billing/Month.ts"
import type { NanoUsd } from "../billing/Money.ts"
import { BatchSql } from "../database/Clients.ts"

export interface MeterRow {
  readonly settle: boolean
  readonly id: string
  readonly accountId: string
  readonly environmentId: string
  /** Null on reservations, and where nothing is counted. */
  readonly keyId: string | null
  /** To hold, or the cost to settle. */
  readonly amount: NanoUsd
  /** A reservation for many requests, which is never let past the budget. Others may pass it alone, by less than their price. */
  readonly shared?: boolean
  /** The hold that pays, and how much of it at most; undefined: the row's own hold, whole. */
  readonly block: { readonly id: string; readonly reserved: NanoUsd } | undefined
  readonly model: string
  readonly requestId: string
  /** What the bill calls it. */
  readonly description: string
  /** Null on reservations, and where nothing was delivered: no usage is counted then. */
  readonly tokensIn: number | null
  readonly tokensOut: number | null
}

export interface MeterOutcome {
  readonly refused: "budget_reached" | "insufficient_credits" | null
  /** What the account could still hold when this row's turn came. */
  readonly available: NanoUsd
  /** Whether the environment's budget was reached before. */
  readonly budgetReached: boolean
  /** What of the environment's budget was neither spent nor set aside when this row's turn came; null: it has none. */
  readonly room: NanoUsd | null
}

export class MeteringStore extends Context.Service<
  MeteringStore,
  {
    /** One outcome per row, in order. `now`, `expiresAt`: Unix milliseconds. */
    readonly flush: (
      rows: ReadonlyArray<MeterRow>,
      now: number,
      expiresAt: number
    ) => Effect.Effect<ReadonlyArray<MeterOutcome>, SqlError.SqlError>
  }
>()("@sluice/domain/metering/MeteringStore") {
  static readonly layer = Layer.effect(
    MeteringStore,
    Effect.gen(function* () {
      const sql = yield* BatchSql

      const flush = (rows: ReadonlyArray<MeterRow>, now: number, expiresAt: number) =>
        Effect.map(
          sql.unsafe<OutcomeRow>(METER, [
            JSON.stringify(rows.map(wireRow)),
            new Date(now),
            monthOf(now),
            new Date(expiresAt)
          ]),
          outcomesOf
        )

      return { flush }
    })
  )
}

interface OutcomeRow {
  readonly refused: string | null
  readonly available: bigint | null
  readonly reached: boolean
  readonly room: bigint | null
}

const outcomesOf = (rows: ReadonlyArray<OutcomeRow>): ReadonlyArray<MeterOutcome> =>
  rows.map(({ available, reached, refused, room }) => ({
    refused: refused === "budget_reached" || refused === "insufficient_credits" ? refused : null,
    available: available ?? 0n,
    budgetReached: reached,
    room
  }))

/** Only what the row's kind needs: what is left out is null in the statement. */
const wireRow = (row: MeterRow, index: number) => {
  const common = {
    ord: index,
    settle: row.settle,
    id: row.id,
    account_id: row.accountId,
    environment_id: row.environmentId,
    amount: row.amount.toString(),
    shared: row.shared === true
  }
  if (!row.settle) return common
  return {
    ...common,
    block: row.block?.id,
    reserved: row.block?.reserved.toString(),
    key_id: row.keyId,
    model: row.model,
    description: row.description,
    request_id: row.requestId,
    tokens_in: row.tokensIn,
    tokens_out: row.tokensOut
  }
}

/** $1 rows as JSON, $2 now, $3 first day of the month, $4 when new holds expire. */
const METER = `
with input as materialized (
  select * from json_to_recordset($1::json) as r(ord int4, settle boolean, id uuid, block uuid, reserved int8, account_id uuid,
    environment_id uuid, key_id uuid, amount int8, shared boolean, model text, description text, request_id text, tokens_in int4, tokens_out int4)
), acc as materialized (
  select id, balance, held, balance - held as available from accounts
  where id = any(array(select account_id from input)) order by id for no key update
), env as materialized (
  select id, budget_reached(environments, $3::date) as reached, budget_room(environments, $3::date) as room, reserved as aside from environments
  where id = any(array(select environment_id from input)) and (select count(*) from acc) >= 0 order by id for no key update
), known as materialized (
  select id, amount, state, environment_id from holds
  where id = any(array(select coalesce(block, id) from input)) and (select count(*) from env) >= 0 order by id for no key update
), judged as materialized (
  select i.*, acc.balance, coalesce(acc.available, 0) as available, coalesce(env.reached, false) as reached, env.room, env.aside,
    known.environment_id is not null as bounds,
    case when i.block is null then known.amount else i.reserved end as hold,
    case when i.block is not null then 0 when i.settle then greatest(i.amount - known.amount, 0) else i.amount end as need,
    case when i.settle and known.state is distinct from 'open' then 'done'
      when i.block is not null and (select u.id from usage u where u.id = i.id) is not null then 'done'
      when not i.settle and known.id is not null then 'done'
      when not i.settle and env.reached then 'budget_reached'
      when acc.id is null then 'insufficient_credits' end as barred
  from input i left join acc on acc.id = i.account_id left join env on env.id = i.environment_id left join known on known.id = coalesce(i.block, i.id)
), turns as materialized (
  select j.*, min(ord) filter (where not settle and barred is null and need > 0) over (partition by environment_id) as foremost from judged j
), claimed as materialized (
  select t.*, admit(case when settle or barred is not null then null when aside = 0 and ord = foremost and not shared then least(need, room) else need end, room)
    over (partition by environment_id order by ord rows unbounded preceding) as claim from turns t
), within as materialized (
  select c.*, lag(claim, 1, 0::int8) over (partition by environment_id order by ord) as claimed from claimed c
), bounded as materialized (
  select w.*, case when barred is null and not settle and need > 0 and room is not null and claim = claimed then 'budget_reached' else barred end as refused
  from within w
), summed as materialized (
  select b.*, admit(case when refused is null then need end, available)
    over (partition by account_id order by ord rows unbounded preceding) as spent from bounded b
), decided as materialized (
  select s.*, lag(spent, 1, 0::int8) over (partition by account_id order by ord) as before from summed s
), admitted as materialized (
  select d.*, refused is null and (need = 0 or spent > before) as fits from decided d
), settled as materialized (
  select s.*, sum(charge) over (partition by account_id order by ord rows unbounded preceding)::int8 as running from (
    select a.*, case when fits and block is null then amount else least(amount, hold) end as charge from admitted a where settle and refused is null) s
), h as (
  insert into holds (id, account_id, environment_id, amount, expires_at)
  select id, account_id, environment_id, amount, $4::timestamptz from admitted where not settle and fits
), g as (
  update holds set state = 'settled' from settled s where s.block is null and holds.id = s.id and holds.id = any(array(select id from input))
), k as (
  update holds set amount = holds.amount - s.charge
  from (select block, sum(charge)::int8 as charge from settled where block is not null group by block) s
  where holds.id = s.block and holds.id = any(array(select block from input))
), u as (
  insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at)
  select id, account_id, environment_id, key_id, model, tokens_in, tokens_out, charge, $2::timestamptz from settled where tokens_in is not null
), t as (
  insert into txns (id, kind, description, resource_type, resource_id, created_at)
  select id, 'inference', description, 'request', request_id, $2::timestamptz from settled where amount > 0
), e as (
  insert into entries (txn_id, account_id, amount, balance_after)
  select txn_id, account_id, amount, balance_after from (
    select ord, 1 as side, id as txn_id, account_id, -charge as amount, balance - running as balance_after from settled where charge > 0
    union all select ord, 2, id, '${REVENUE_ACCOUNT}'::uuid, amount, null::int8 from settled where amount > 0
    union all select ord, 3, id, '${WRITE_OFF_ACCOUNT}'::uuid, charge - amount, null::int8 from settled where amount > charge) sides
  order by ord, side
), m as (
  update environments e set month = greatest(e.month, $3::date), reserved = e.reserved + x.aside,
    month_spent = spent_in(e, $3::date) + x.total,
    wake_at = case when e.monthly_budget is null or x.total = 0 then e.wake_at else least(e.wake_at, $2::timestamptz) end,
    events = e.events + case when e.monthly_budget is null or x.total = 0 then 0 else 1 end
  from (select environment_id, sum(charge)::int8 as total, sum(aside)::int8 as aside from (
    select environment_id, 0::int8 as charge, amount as aside from admitted where not settle and fits
    union all select environment_id, charge, case when not bounds then 0 when block is null then -hold else -charge end from settled) both_kinds
    group by environment_id) x
  where (x.total > 0 or x.aside <> 0) and e.id = x.environment_id and e.id = any(array(select environment_id from input))
), b as (
  update accounts a set balance = acc.balance - x.charge, held = acc.held + x.held
  from acc join (select account_id, sum(charge)::int8 as charge, sum(held)::int8 as held from (
    select account_id, 0::int8 as charge, amount as held from admitted where not settle and fits
    union all select account_id, charge, case when block is null then -hold else -charge end from settled) both_kinds group by account_id) x on x.account_id = acc.id
  where a.id = acc.id and a.id = any(array(select account_id from input))
)
select case when not settle and refused is null and not fits then 'insufficient_credits' else refused end as refused,
  available - before as available, reached, room - claimed as room from admitted order by ord`
