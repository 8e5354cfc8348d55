/**
 * The statements that admit a video, with its price held, and that commit a step of one, which settles or releases that hold
 * when the video has ended. Both lock in the order of ARCHITECTURE.md.
 */
import { posting, UPDATED_ACCOUNTS } from "../billing/Posting.sql.ts"
import { statement } from "../database/Statement.ts"

/** A hold may not pass the room of the budget, unless nothing else is set aside in it. */
const DECISION = `locked_accounts as materialized (
  select id, balance, held, balance - held as available
  from accounts
  where id = $2
  for no key update
),
locked_environments as materialized (
  select budget_reached(environments, $5::date) as is_reached, budget_room(environments, $5::date) as room, reserved
  from environments
  where id = $3
    and (select count(*) from locked_accounts) >= 0
  for no key update
),
decisions as materialized (
  select coalesce(available, 0) as available,
    case
      when exists (
        select
        from videos
        where id = $1 or (environment_id = $3 and idempotency_key = $14 and deleted_at is null)
      ) then 'done'
      when is_reached or (reserved > 0 and room < $4::int8) then 'budget_reached'
      when coalesce(available, -1) < $4::int8 then 'insufficient_credits'
    end as refused
  from locked_environments
  left join locked_accounts on true
)`

const NEW_ROWS = `new_holds as (
  insert into holds (id, account_id, environment_id, amount)
  select $1, $2, $3, $4::int8
  from decisions
  where refused is null
),
reserved_budgets as (
  update environments
  set reserved = reserved + $4::int8
  where id = $3
    and (select refused is null from decisions)
),
account_changes as materialized (
  select $2::uuid as account_id, 0::int8 as charged, $4::int8 as held
  from decisions
  where refused is null
),
${UPDATED_ACCOUNTS},
new_videos as (
  insert into videos (id, workspace_id, environment_id, price, key_id, model, prompt, size, seconds, picture, picture_type,
    idempotency_key, status, created_at, wake_at)
  select $1, $2, $3, $4::int8, $6, $7, $8, $9, $10, $11, $12, $14, 'queued', $13::timestamptz, $13::timestamptz
  from decisions
  where refused is null
)`

/**
 * $1 id, $2 workspace, $3 environment, $4 price, $5 first day of the month, $6 key, $7 model, $8 prompt, $9 size, $10 seconds,
 * $11 picture, $12 its type, $13 now, $14 idempotency key. A repeat changes nothing and is not refused.
 */
export const ADMIT_VIDEO = statement(
  [DECISION, NEW_ROWS],
  "select nullif(refused, 'done') as refused, available from decisions"
)

/** The picture is kept until the model has it. An event that came during the step has raised the count: due again at once. */
const VIDEO = `written_videos as (
  update videos
  set status = $8, percent = $9, failure = $10, reference = $11, lease_by = null, lease_until = null,
    ended_at = case when $12::boolean then $5::timestamptz end,
    cost = case when $12::boolean then $13::int8 end,
    picture = case when $11::text is null and not $12::boolean then videos.picture end,
    wake_at = case when videos.events <> $4 then $5::timestamptz else $7::timestamptz end
  where videos.id = $1
    and videos.lease_by = $2
    and videos.fence = $3
    and videos.ended_at is null
  returning videos.*
)`

const MONEY = `settled_holds as (
  update holds
  set state = case when $13::int8 > 0 then 'settled' else 'released' end
  from written_videos
  where holds.id = $1
    and written_videos.ended_at is not null
    and holds.state = 'open'
  returning holds.id, holds.account_id, holds.environment_id, holds.amount
),
locked_accounts as materialized (
  select id, balance, held
  from accounts
  where id = any(array(select account_id from settled_holds))
  for no key update
),
locked_environments as materialized (
  select id
  from environments
  where id = any(array(select environment_id from written_videos))
    and (select count(*) from settled_holds) > 0
    and (select count(*) from locked_accounts) >= 0
  for no key update
),
settlements as materialized (
  select written_videos.*, settled_holds.account_id, settled_holds.amount as held, $13::int8 as charge,
    case when settled_holds.environment_id is null then 0 else settled_holds.amount end as set_aside
  from written_videos
  join settled_holds on settled_holds.id = written_videos.id
  join locked_environments on locked_environments.id = written_videos.environment_id
),
new_usage as (
  insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at)
  select id, workspace_id, environment_id, key_id, model, 0, 0, charge, $5::timestamptz
  from settlements
  where status = 'completed'
),
bills as (
  select 1 as ord, id as txn_id, account_id, charge as charged, 0::int8 as written_off, 'inference' as kind,
    'Video of ' || seconds || ' s by ' || model as description, 'video' as resource_type, 'video_' || id as resource_id
  from settlements
),
account_changes as materialized (
  select account_id, charge as charged, -held as held
  from settlements
),
month_changes as materialized (
  select environment_id, charge as charged, -set_aside as reserved, charge > 0 as wakes
  from settlements
)`

/**
 * $1 id, $2 replica, $3 fence, $4 events, $5 now, $6 first day of the month, $7 when it wakes, $8 status, $9 percent, $10 failure,
 * $11 reference, $12 whether it has ended, $13 charge. No row: the claim was lost and nothing was written.
 */
export const COMMIT_VIDEO = statement(
  [VIDEO, MONEY, ...posting({ now: "$5::timestamptz", month: "$6::date" })],
  "select id from written_videos"
)
