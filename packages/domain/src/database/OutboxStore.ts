/** The SQL that deletes old events of the outbox. No service reads events yet. */
import { Context, Effect, Layer } from "effect"
import { BatchSql } from "./Clients.ts"

/**
 * $1 the time before which events are old, $2 the limit. Ids grow with time, so the oldest events are found by id alone. Two replicas that sweep at
 * once pass over each other's rows.
 */
const FORGET = `delete from outbox_events
where id = any(array(
  select id
  from outbox_events
  where id <= (
    select max(id)
    from (select id, created_at from outbox_events order by id limit $2::int4) oldest
    where created_at < $1::timestamptz
  )
  order by id
  for update skip locked
))
returning id`

export class OutboxStore extends Context.Service<
  OutboxStore,
  {
    /** Deletes up to `limit` events from before a time (Unix ms), the oldest first. Returns how many it deleted. */
    readonly forget: (before: number, limit: number) => Effect.Effect<number>
  }
>()("@sluice/domain/database/OutboxStore") {
  static readonly layer = Layer.effect(
    OutboxStore,
    Effect.map(BatchSql, (sql) =>
      OutboxStore.of({
        forget: (before, limit) =>
          sql.unsafe(FORGET, [new Date(before), limit]).pipe(
            Effect.map((rows) => rows.length),
            Effect.orDie
          )
      })
    )
  )
}
