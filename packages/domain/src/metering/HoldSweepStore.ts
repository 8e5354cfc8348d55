/**
 * The holds of requests whose server died: released when they have expired, forgotten when that is long ago.
 * Locks as ARCHITECTURE.md says (Lock order), as settlements do (MeteringStore.ts).
 */
import { Context, Effect, Layer } from "effect"
import { UPDATED_ACCOUNTS } from "../billing/Posting.sql.ts"
import { BatchSql } from "../database/Clients.ts"
import { statement } from "../database/Statement.ts"

export class HoldSweepStore extends Context.Service<
  HoldSweepStore,
  {
    /** Releases up to `limit` expired holds and forgets as many that were resolved long ago; how many it touched. */
    readonly sweep: (now: number, forgetBefore: number, limit: number) => Effect.Effect<number>
  }
>()("@sluice/domain/metering/HoldSweepStore") {
  static readonly layer = Layer.effect(
    HoldSweepStore,
    Effect.gen(function* () {
      const sql = yield* BatchSql
      const sweep = Effect.fn("HoldSweepStore.sweep")(function* (now: number, forgetBefore: number, limit: number) {
        const released = yield* sql.unsafe(RELEASE_EXPIRED, [new Date(now), limit])
        const forgotten = yield* sql.unsafe(FORGET, [new Date(forgetBefore), limit])
        return released.length + forgotten.length
      }, Effect.orDie)
      return HoldSweepStore.of({ sweep })
    })
  )
}

/** $1 now, $2 limit. */
const RELEASE_EXPIRED = statement(
  [
    `expired_holds as materialized (
  select id, account_id, environment_id
  from holds
  where expires_at <= $1::timestamptz and state = 'open'
  order by expires_at
  limit $2::int4
),
locked_accounts as materialized (
  select id, balance, held
  from accounts
  where id = any(array(select account_id from expired_holds))
  order by id
  for no key update
),
locked_environments as materialized (
  select id
  from environments
  where id = any(array(select environment_id from expired_holds))
    and (select count(*) from locked_accounts) >= 0
  order by id
  for no key update
),
released_holds as (
  update holds
  set state = 'released'
  where id = any(array(select id from expired_holds))
    and (select count(*) from locked_environments) >= 0
    and state = 'open'
  returning id, account_id, environment_id, amount
),
unreserved_budgets as (
  update environments
  set reserved = reserved - releases.amount
  from (
    select environment_id, sum(amount)::int8 as amount
    from released_holds
    group by environment_id
  ) releases
  where environments.id = releases.environment_id
),
account_changes as materialized (
  select account_id, 0::int8 as charged, -sum(amount)::int8 as held
  from released_holds
  group by account_id
)`,
    UPDATED_ACCOUNTS
  ],
  "select id from released_holds"
)

/** $1 expired before, $2 limit. */
const FORGET = `delete from holds
where id = any(array(
  select id
  from holds
  where expires_at <= $1::timestamptz and state <> 'open'
  order by expires_at
  limit $2::int4
))
returning id`
