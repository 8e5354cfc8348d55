/** Holds of jobs that grow: what is held for a running machine, extended towards a target as far as the balance goes. */
import { Context, Effect, Layer } from "effect"
import { BatchSql } from "../database/Clients.ts"
import type { NanoUsd } from "./Money.ts"

const EXTEND = `with o as materialized (select id, account_id, amount from holds where id = $1 and state = 'open' for update
  ), a as materialized (select a.id, a.balance, a.held from accounts a where a.id = (select account_id from o) for update
  ), n as materialized (select o.id, o.account_id, o.amount, a.balance, a.held,
      greatest(0, least($2::int8 - o.amount, a.balance - a.held)) as more from o join a on a.id = o.account_id
  ), h as (update holds set amount = n.amount + n.more from n where holds.id = n.id and n.more > 0
  ), u as (update accounts set balance = n.balance, held = n.held + n.more from n where accounts.id = n.account_id and n.more > 0)
  select amount + more as amount from n`

export class HoldStore extends Context.Service<
  HoldStore,
  {
    /** Raises a job's open hold to `target` or as far as the account's available balance goes; answers what is held then. */
    readonly extend: (jobId: string, target: NanoUsd) => Effect.Effect<NanoUsd>
  }
>()("@sluice/domain/billing/HoldStore") {
  static readonly layer = Layer.effect(
    HoldStore,
    Effect.map(BatchSql, (sql) =>
      HoldStore.of({
        extend: (jobId, target) =>
          sql.unsafe<{ readonly amount: bigint }>(EXTEND, [jobId, target]).pipe(
            Effect.map((rows) => rows[0]?.amount ?? 0n),
            Effect.orDie
          )
      })
    )
  )
}
