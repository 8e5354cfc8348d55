/**
 * The rows of videos: admission with the money held for them, claims, and commits that settle or release that money in the
 * statement that says how the video ended. A claim that was lost commits nothing.
 * Locks as ARCHITECTURE.md says (Lock order).
 */
import { Clock, Context, Effect, Layer } from "effect"
import { REVENUE_ACCOUNT } from "../billing/Ledger.ts"
import { monthOf } from "../billing/Month.ts"
import type { NanoUsd } from "../billing/Money.ts"
import { BatchSql } from "../database/Clients.ts"
import { type Claims, claiming, makeClaims } from "../database/ReconciledStore.ts"
import { Replica } from "../database/Replica.ts"
import { retryUnconfirmed } from "../database/StatementRetry.ts"
import { isEnded, type VideoState } from "./VideoLifecycle.ts"
import type { NewVideo, VideoRow } from "./VideoRow.ts"

interface AdmissionRow {
  readonly refused: "budget_reached" | "insufficient_credits" | null
  readonly available: NanoUsd
}

/** $1 id, $2 workspace, $3 environment, $4 price, $5 month, $6.. the row. Said again, it changes nothing. */
const ADMIT = `
with acc as materialized (select id, balance, held, balance - held as available from accounts where id = $2 for no key update
), env as materialized (
  select budget_reached(environments, $5::date) as reached, budget_room(environments, $5::date) as room, reserved
  from environments where id = $3 and (select count(*) from acc) >= 0 for no key update
), judged as materialized (
  select case when exists (select from videos where id = $1 or (environment_id = $3 and idempotency_key = $14 and deleted_at is null)) then 'done'
      when env.reached or (env.reserved > 0 and env.room < $4::int8) then 'budget_reached' when coalesce(acc.available, -1) < $4::int8 then 'insufficient_credits' end as refused,
    coalesce(acc.available, 0) as available from env left join acc on true
), h as (insert into holds (id, account_id, environment_id, amount) select $1, $2, $3, $4::int8 from judged where refused is null
), m as (update environments set reserved = reserved + $4::int8 where id = $3 and (select refused is null from judged)
), u as (update accounts set balance = acc.balance, held = acc.held + $4::int8 from acc where accounts.id = acc.id and (select refused is null from judged)
), v as (
  insert into videos (id, workspace_id, environment_id, price, key_id, model, prompt, size, seconds, picture, picture_type, idempotency_key, status, created_at, wake_at)
  select $1, $2, $3, $4::int8, $6, $7, $8, $9, $10, $11, $12, $14, 'queued', $13::timestamptz, $13::timestamptz from judged where refused is null)
select nullif(refused, 'done') as refused, available from judged`

const CLAIM = claiming("videos", "(ended_at is null or deleted_at is not null)")

/** $1 id, $2 replica, $3 fence, $4 events, $5 now, $6 month, $7 wake, $8 status, $9 percent, $10 failure, $11 reference, $12 ended, $13 charge. */
const COMMIT = `
with written as (
  update videos v set status = $8, percent = $9, failure = $10, reference = $11, lease_by = null, lease_until = null,
    ended_at = case when $12::boolean then $5::timestamptz end, cost = case when $12::boolean then $13::int8 end,
    picture = case when $11::text is null and not $12::boolean then v.picture end,
    wake_at = case when v.events <> $4 then $5::timestamptz else $7::timestamptz end
  where v.id = $1 and v.lease_by = $2 and v.fence = $3 and v.ended_at is null
  returning v.*
), hold as (
  update holds h set state = case when $13::int8 > 0 then 'settled' else 'released' end from written w
  where h.id = $1 and w.ended_at is not null and h.state = 'open' returning h.id, h.account_id, h.environment_id, h.amount
), acc as materialized (select a.id, a.balance, a.held from accounts a where a.id = (select account_id from hold) for no key update
), use as (
  insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at)
  select w.id, w.workspace_id, w.environment_id, w.key_id, w.model, 0, 0, $13::int8, $5::timestamptz from written w join hold on true
  where w.status = 'completed'
), t as (
  insert into txns (id, kind, description, resource_type, resource_id, created_at)
  select w.id, 'inference', 'Video of ' || w.seconds || ' s by ' || w.model, 'video', 'video_' || w.id, $5::timestamptz
  from written w join hold on true where $13::int8 > 0
), e as (
  insert into entries (txn_id, account_id, amount, balance_after)
  select hold.id, hold.account_id, -$13::int8, acc.balance - $13::int8 from hold join acc on true where $13::int8 > 0
  union all select hold.id, '${REVENUE_ACCOUNT}'::uuid, $13::int8, null from hold where $13::int8 > 0
), a as (
  update accounts set balance = acc.balance - $13::int8, held = acc.held - hold.amount from acc, hold where accounts.id = acc.id
), m as (
  update environments env set month = greatest(env.month, $6::date),
    reserved = env.reserved - case when hold.environment_id is null then 0 else hold.amount end,
    month_spent = spent_in(env, $6::date) + $13::int8,
    events = env.events + case when $13::int8 > 0 then 1 else 0 end,
    wake_at = case when env.monthly_budget is null or $13::int8 = 0 or env.lease_until > $5::timestamptz then env.wake_at else least(env.wake_at, $5::timestamptz) end
  from written w, hold, acc where env.id = w.environment_id)
select id from written`

const FORGET =
  "delete from videos where id = $1 and lease_by = $2 and fence = $3 and deleted_at is not null returning id"
const LATER = `update videos set lease_by = null, lease_until = null, wake_at = $4 where id = $1 and lease_by = $2 and fence = $3`

const GONE: AdmissionRow = { refused: "insufficient_credits", available: 0n }

export class VideoStore extends Context.Service<
  VideoStore,
  Claims<VideoRow> & {
    /** Holds the price and writes the row, or refuses. */
    readonly admit: (video: NewVideo) => Effect.Effect<AdmissionRow>
    /** Whether the claim still held. */
    readonly commit: (row: VideoRow, state: VideoState, wakeAt: number) => Effect.Effect<boolean>
    /** Of one that was deleted. */
    readonly forget: (row: VideoRow) => Effect.Effect<void>
    readonly later: (row: VideoRow, wakeAt: number) => Effect.Effect<void>
  }
>()("@sluice/domain/videos/VideoStore") {
  static readonly layer = Layer.effect(
    VideoStore,
    Effect.gen(function* () {
      const sql = yield* BatchSql
      const replica = yield* Replica
      const clock = yield* Clock.Clock
      const now = () => clock.currentTimeMillisUnsafe()

      const admit = Effect.fnUntraced(
        function* (video: NewVideo) {
          const at = now()
          const rows = yield* sql.unsafe<AdmissionRow>(ADMIT, [
            video.id,
            video.workspaceId,
            video.environmentId,
            video.price.toString(),
            monthOf(at),
            video.keyId,
            video.model,
            video.prompt,
            video.size,
            video.seconds,
            video.image?.bytes ?? null,
            video.image?.contentType ?? null,
            new Date(at),
            video.idempotencyKey ?? null
          ])
          // No row: the environment was deleted between the key and here.
          return rows[0] ?? GONE
        },
        retryUnconfirmed,
        Effect.orDie
      )

      const commit = (row: VideoRow, state: VideoState, wakeAt: number) =>
        Effect.suspend(() => {
          const at = now()
          const charge = state.status === "completed" ? row.price : 0n
          return sql.unsafe(COMMIT, [
            row.id,
            replica.id,
            row.fence.toString(),
            row.events.toString(),
            new Date(at),
            monthOf(at),
            new Date(wakeAt),
            state.status,
            state.percent,
            state.failure,
            state.reference,
            isEnded(state.status),
            charge.toString()
          ])
        }).pipe(
          Effect.map((written) => written.length > 0),
          Effect.orDie
        )

      return VideoStore.of({
        admit,
        ...(yield* makeClaims({ table: "videos", claim: CLAIM, of: (row: VideoRow) => row })),
        commit,
        forget: (row) => Effect.asVoid(Effect.orDie(sql.unsafe(FORGET, [row.id, replica.id, row.fence.toString()]))),
        later: (row, wakeAt) =>
          Effect.asVoid(Effect.orDie(sql.unsafe(LATER, [row.id, replica.id, row.fence.toString(), new Date(wakeAt)])))
      })
    })
  )
}
