/**
 * The statement that reserves and settles many requests, each with its own outcome, as if they had come one after the other
 * in the order of the batch. It locks accounts, environments and holds in the order of ARCHITECTURE.md.
 */
import { posting } from "../billing/Posting.sql.ts"
import { statement } from "../database/Statement.ts"

/** A column that a row's kind does not need is null. */
const REQUESTS = `requests as materialized (
  select *
  from json_to_recordset($1::json) as request(
    ord int4, settle boolean, id uuid, block uuid, reserved int8, account_id uuid, environment_id uuid, key_id uuid,
    amount int8, shared boolean, model text, description text, request_id text, tokens_in int4, tokens_out int4
  )
)`

const LOCKS = `locked_accounts as materialized (
  select id, balance, held, balance - held as available
  from accounts
  where id = any(array(select account_id from requests))
  order by id
  for no key update
),
locked_environments as materialized (
  select id, budget_reached(environments, $3::date) as is_reached, budget_room(environments, $3::date) as room,
    reserved as set_aside
  from environments
  where id = any(array(select environment_id from requests))
    and (select count(*) from locked_accounts) >= 0
  order by id
  for no key update
),
locked_holds as materialized (
  select id, amount, state, environment_id
  from holds
  where id = any(array(select coalesce(block, id) from requests))
    and (select count(*) from locked_environments) >= 0
  order by id
  for no key update
)`

/**
 * `hold`: what pays for a settlement at most. `need`: what the row needs beside it. `barred`: why the row changes nothing.
 * A row that was done before is barred as done.
 */
const JUDGEMENTS = `judged_requests as materialized (
  select requests.*, balance, coalesce(available, 0) as available,
    coalesce(is_reached, false) as is_reached, room, set_aside,
    locked_holds.environment_id is not null as is_set_aside,
    case when block is null then locked_holds.amount else reserved end as hold,
    case
      when block is not null then 0
      when settle then greatest(requests.amount - locked_holds.amount, 0)
      else requests.amount
    end as need,
    case
      when settle and locked_holds.state is distinct from 'open' then 'done'
      when block is not null and (select usage.id from usage where usage.id = requests.id) is not null then 'done'
      when not settle and locked_holds.id is not null then 'done'
      when not settle and is_reached then 'budget_reached'
      when locked_accounts.id is null then 'insufficient_credits'
    end as barred
  from requests
  left join locked_accounts on locked_accounts.id = requests.account_id
  left join locked_environments on locked_environments.id = requests.environment_id
  left join locked_holds on locked_holds.id = coalesce(block, requests.id)
)`

/**
 * Walks each environment's reservations along the room of its budget. The first one of an environment that has nothing set
 * aside may pass the room alone, by less than its price; a block of credit (`shared`) never may.
 */
const BUDGETS = `reservation_turns as materialized (
  select *,
    min(ord) filter (where not settle and barred is null and need > 0) over (partition by environment_id) as first_ord
  from judged_requests
),
summed_reservations as materialized (
  select *,
    admit(
      case
        when settle or barred is not null then null
        when set_aside = 0 and ord = first_ord and not shared then least(need, room)
        else need
      end,
      room
    ) over (partition by environment_id order by ord rows unbounded preceding) as room_used_after
  from reservation_turns
),
placed_reservations as materialized (
  select *, lag(room_used_after, 1, 0::int8) over (partition by environment_id order by ord) as room_used_before
  from summed_reservations
),
bounded_requests as materialized (
  select *,
    case
      when barred is null and not settle and need > 0 and room is not null and room_used_after = room_used_before
        then 'budget_reached'
      else barred
    end as refused
  from placed_reservations
)`

/** Walks each account's rows along its balance: a row that does not fit leaves the sum where it is. */
const BALANCES = `summed_requests as materialized (
  select *,
    admit(case when refused is null then need end, available)
      over (partition by account_id order by ord rows unbounded preceding) as spent_after
  from bounded_requests
),
placed_requests as materialized (
  select *, lag(spent_after, 1, 0::int8) over (partition by account_id order by ord) as spent_before
  from summed_requests
),
decided_requests as materialized (
  select *, refused is null and (need = 0 or spent_after > spent_before) as fits
  from placed_requests
),
reserved_requests as materialized (
  select *
  from decided_requests
  where not settle and fits
),
settled_requests as materialized (
  select *, case when fits and block is null then amount else least(amount, hold) end as charge
  from decided_requests
  where settle and refused is null
)`

/** A request of a block takes its charge out of the block's hold; the rest of its lease stays in the block. */
const HOLDS = `new_holds as (
  insert into holds (id, account_id, environment_id, amount, expires_at)
  select id, account_id, environment_id, amount, $4::timestamptz
  from reserved_requests
),
settled_holds as (
  update holds
  set state = 'settled'
  from settled_requests
  where settled_requests.block is null
    and holds.id = settled_requests.id
    and holds.id = any(array(select id from requests))
),
charged_blocks as (
  update holds
  set amount = holds.amount - charges.charge
  from (
    select block, sum(charge)::int8 as charge
    from settled_requests
    where block is not null
    group by block
  ) charges
  where holds.id = charges.block
    and holds.id = any(array(select block from requests))
),
new_usage as (
  insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at)
  select id, account_id, environment_id, key_id, model, tokens_in, tokens_out, charge, $2::timestamptz
  from settled_requests
  where tokens_in is not null
)`

const MONEY = `bills as (
  select ord, id as txn_id, account_id, charge as charged, amount - charge as written_off,
    'inference' as kind, description, 'request' as resource_type, request_id as resource_id
  from settled_requests
),
account_changes as materialized (
  select account_id, sum(charged)::int8 as charged, sum(held)::int8 as held
  from (
    select account_id, 0::int8 as charged, amount as held
    from reserved_requests
    union all
    select account_id, charge, case when block is null then -hold else -charge end
    from settled_requests
  ) changes
  group by account_id
),
month_changes as materialized (
  select environment_id, sum(charged)::int8 as charged, sum(set_aside)::int8 as reserved, sum(charged) > 0 as wakes
  from (
    select environment_id, 0::int8 as charged, amount as set_aside
    from reserved_requests
    union all
    select environment_id, charge,
      case when not is_set_aside then 0 when block is null then -hold else -charge end
    from settled_requests
  ) changes
  group by environment_id
)`

/** $1 the rows as JSON, $2 now, $3 first day of the month, $4 when new holds expire. Answers one row for each, in their order. */
export const METER_REQUESTS = statement(
  [
    REQUESTS,
    LOCKS,
    JUDGEMENTS,
    BUDGETS,
    BALANCES,
    HOLDS,
    MONEY,
    ...posting({ now: "$2::timestamptz", month: "$3::date" })
  ],
  `select
  case when not settle and refused is null and not fits then 'insufficient_credits' else refused end as refused,
  available - spent_before as available, is_reached, room - room_used_before as room
from decided_requests
order by ord`
)
