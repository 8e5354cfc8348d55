/**
 * The holds of requests whose server died: released when they have expired, forgotten when that is long ago.
 * Locks as ARCHITECTURE.md says (Lock order), as settlements do (MeteringStore.ts).
 */
import { Context, Effect, Layer } from "effect"
import { BatchSql } from "../database/Clients.ts"

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
        const released = yield* sql.unsafe<{ readonly id: string }>(RELEASE_EXPIRED, [new Date(now), limit])
        const forgotten = yield* sql.unsafe<{ readonly id: string }>(FORGET, [new Date(forgetBefore), limit])
        return released.length + forgotten.length
      }, Effect.orDie)
      return HoldSweepStore.of({ sweep })
    })
  )
}

/** $1 now, $2 limit. */
const RELEASE_EXPIRED = `
with expired as materialized (
  select id, account_id, environment_id from holds where expires_at <= $1::timestamptz and state = 'open' order by expires_at limit $2::int4
), acc as materialized (
  select id, balance, held from accounts where id = any(array(select account_id from expired)) order by id for no key update
), env as materialized (
  select id from environments
  where id = any(array(select environment_id from expired)) and (select count(*) from acc) >= 0 order by id for no key update
), h as (
  update holds set state = 'released' where id = any(array(select id from expired)) and (select count(*) from env) >= 0
    and state = 'open' returning id, account_id, environment_id, amount
), e as (
  update environments set reserved = reserved - x.amount
  from (select environment_id, sum(amount)::int8 as amount from h group by environment_id) x where environments.id = x.environment_id
), b as (
  update accounts a set balance = acc.balance, held = acc.held - x.amount
  from acc join (select account_id, sum(amount)::int8 as amount from h group by account_id) x on x.account_id = acc.id where a.id = acc.id
)
select id from h`

/** $1 expired before, $2 limit. */
const FORGET = `
delete from holds where id = any(array(
  select id from holds where expires_at <= $1::timestamptz and state <> 'open' order by expires_at limit $2::int4)) returning id`
