/**
 * What can be found broken in requests to models and in videos: at all rows between two steps, and, against what callers
 * were told, at the end of a run. Rows are those of `InvariantStore`: v video, h its hold, u its usage, b its bookings.
 */
import type { PgClient } from "@effect/sql-pg"
import { FUNDING_ACCOUNT, REVENUE_ACCOUNT, WRITE_OFF_ACCOUNT } from "@sluice/domain/billing/Ledger"
import { Effect } from "effect"
import type { EndContext } from "./EndChecksStore.ts"
import { FILMED, type StepCheck } from "./InvariantStore.ts"

const check = (broken: string, found: string): StepCheck => ({ over: "video", broken, found })

export const requestSteps = {
  videoIsPaidOnce: [
    check(
      `v.status = 'completed' and (v.cost is distinct from v.price or coalesce(b.charged, 0) <> v.price or u.cost is distinct from v.price or h.state is distinct from 'settled')`,
      `'video ' || v.id || ' is completed for ' || v.price || ', says it cost ' || coalesce(v.cost::text, 'nothing') || ' and was charged ' || coalesce(b.charged, 0)`
    ),
    check(
      `v.status = 'failed' and (v.cost is distinct from 0 or b.txn_id is not null or u.id is not null or h.state is distinct from 'released')`,
      `'video ' || v.id || ' failed, its hold is ' || coalesce(h.state, 'gone') || ' and it was charged ' || coalesce(b.charged, 0)`
    ),
    check(
      `v.ended_at is null and (v.cost is not null or b.txn_id is not null or u.id is not null)`,
      `'video ' || v.id || ' is ' || v.status || ' and charged'`
    )
  ],
  videoKeepsItsLimit: [
    check(
      `v.ended_at is null and v.created_at < ${FILMED}`,
      `'video ' || v.id || ' was ordered at ' || v.created_at || ' and is ' || v.status`
    )
  ]
} satisfies Record<string, ReadonlyArray<StepCheck>>

type Found = Effect.Effect<ReadonlyArray<string>>

/** What the customer was charged for request a, by the id that its caller knows. By an index: requests are many. */
const CHARGED = `lateral (select count(distinct t.id) as bills, -sum(e.amount) as amount
  from txns t join entries e on e.txn_id = t.id and e.account_id not in ('${REVENUE_ACCOUNT}', '${FUNDING_ACCOUNT}', '${WRITE_OFF_ACCOUNT}')
  where t.kind = 'inference' and t.resource_id = a.id) c`

export const requestEnds = {
  videosEnd: (sql: PgClient.PgClient, { videos }: EndContext): Found =>
    lines(
      sql,
      `select 'video ' || a.id || ' was accepted and is ' || coalesce(v.status, 'unknown') as found
         from json_array_elements_text($1::json) a(id) left join videos v on v.id = a.id::uuid where v.ended_at is null`,
      JSON.stringify(videos)
    ),

  failedIsFree: (sql: PgClient.PgClient, { failed }: EndContext): Found =>
    lines(
      sql,
      `select 'request ' || a.id || ' failed and was charged ' || c.amount as found
         from json_array_elements_text($1::json) a(id) cross join ${CHARGED} where c.bills > 0`,
      JSON.stringify(failed)
    ),

  answerCostsWhatItSays: (sql: PgClient.PgClient, { answered }: EndContext): Found =>
    lines(
      sql,
      `select 'request ' || a.id || ' was answered for ' || a.cost || ' and charged ' || coalesce(c.amount, 0)
           || ' in ' || c.bills || ' bills' as found
         from json_to_recordset($1::json) a(id text, cost int8) cross join ${CHARGED}
         where a.cost <> coalesce(c.amount, 0) or c.bills > 1`,
      JSON.stringify(answered.map(({ cost, id }) => ({ id, cost: cost.toString() })))
    ),

  streamedIsBuffered: (_sql: PgClient.PgClient, { twins }: EndContext): Found =>
    Effect.succeed(
      twins.flatMap(({ buffered, id, streamed }) => [
        ...(streamed.cost === buffered.cost
          ? []
          : [`chat ${id} cost ${streamed.cost} streamed and ${buffered.cost} buffered`]),
        ...(streamed.text === buffered.text ? [] : [`chat ${id} said other things streamed than buffered`])
      ])
    )
}

const lines = (sql: PgClient.PgClient, statement: string, parameter: string): Found =>
  sql.unsafe<{ readonly found: string }>(statement, [parameter]).pipe(
    Effect.map((rows) => rows.map(({ found }) => found)),
    Effect.orDie
  )
