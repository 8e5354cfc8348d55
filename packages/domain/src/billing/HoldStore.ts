/** Holds of jobs that grow: what is held for a running machine, extended towards a target as far as the balance goes. */
import { Context, Effect, Layer, Schema } from "effect"
import { BatchSql } from "../database/Clients.ts"
import { rowsOf } from "../database/RowDecoder.ts"
import { statement } from "../database/Statement.ts"
import type { NanoUsd } from "./Money.ts"
import { UPDATED_ACCOUNTS } from "./Posting.sql.ts"

/** $1 job, $2 target. */
const EXTEND = statement(
  [
    `locked_holds as materialized (
  select id, account_id, amount
  from holds
  where id = $1 and state = 'open'
  for update
),
locked_accounts as materialized (
  select id, balance, held
  from accounts
  where id = (select account_id from locked_holds)
  for update
),
extensions as materialized (
  select locked_holds.id, account_id, amount,
    greatest(0, least($2::int8 - amount, balance - held)) as more
  from locked_holds
  join locked_accounts on locked_accounts.id = account_id
),
extended_holds as (
  update holds
  set amount = extensions.amount + more
  from extensions
  where holds.id = extensions.id and more > 0
),
account_changes as materialized (
  select account_id, 0::int8 as charged, more as held
  from extensions
  where more > 0
)`,
    UPDATED_ACCOUNTS
  ],
  "select amount + more as amount from extensions"
)

const amountRows = rowsOf("HoldStore", Schema.Struct({ amount: Schema.BigInt }))

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
          sql.unsafe(EXTEND, [jobId, target]).pipe(
            Effect.map((rows) => amountRows(rows)[0]?.amount ?? 0n),
            Effect.orDie
          )
      })
    )
  )
}
