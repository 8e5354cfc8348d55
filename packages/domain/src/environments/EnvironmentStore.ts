/**
 * The SQL of environments. Every statement names the workspace, so an environment of another workspace is never found.
 */
import { Context, Effect, Layer, Schema } from "effect"
import * as PgClient from "@effect/sql-pg/PgClient"
import type { NanoUsd } from "../billing/Money.ts"
import { type Page, type PageRequest, pageOf } from "../database/Page.ts"
import { budgetEvent, recordedEvents } from "../database/Outbox.sql.ts"
import { rowsOf, totalOf } from "../database/RowDecoder.ts"
import { statement } from "../database/Statement.ts"
import type { Environment } from "./Environment.ts"

const environmentRows = rowsOf(
  "EnvironmentStore",
  Schema.Struct({
    id: Schema.String,
    name: Schema.String,
    isDefault: Schema.Boolean,
    monthlyBudget: Schema.NullOr(Schema.BigInt),
    monthSpent: Schema.BigInt,
    budgetResetsAt: Schema.Date,
    createdAt: Schema.Date
  })
)

/** $1 workspace, $2 environment, $3 budget, $4 now, $5 first day of the month. The watcher of the budget wakes. */
const SET_BUDGET = statement(
  [
    `locked_environments as materialized (
  select id, monthly_budget
  from environments
  where workspace_id = $1 and id = $2
  for no key update
),
changed_environments as (
  update environments
  set monthly_budget = $3::int8, budget_reached_on = null, events = events + 1,
    wake_at = least(environments.wake_at, $4::timestamptz)
  from locked_environments
  where environments.id = locked_environments.id
  returning environments.*, spent_in(environments, $5::date) as spent,
    (greatest(environments.month, $5::date) + interval '1 month') at time zone 'UTC' as resets_at,
    environments.monthly_budget is distinct from locked_environments.monthly_budget as is_news
),
events as (
  select ${budgetEvent("changed")}
  from changed_environments
  where is_news
)`,
    recordedEvents("$4::timestamptz")
  ],
  `select id, name, is_default as "isDefault", monthly_budget as "monthlyBudget", spent as "monthSpent",
  created_at as "createdAt", resets_at as "budgetResetsAt"
from changed_environments`
)

export class EnvironmentStore extends Context.Service<
  EnvironmentStore,
  {
    /**
     * `month`: first day of the current UTC month. Spending of an earlier month counts as 0. If another replica has
     * begun a later month, the later one is used.
     */
    readonly get: (workspaceId: string, id: string, month: string) => Effect.Effect<Environment | undefined>
    readonly list: (workspaceId: string, page: PageRequest, month: string) => Effect.Effect<Page<Environment>>
    /** Sets the budget and makes the budget reconciler check it now. Undefined if there is no such environment. */
    readonly setBudget: (
      workspaceId: string,
      id: string,
      budget: NanoUsd | null,
      now: Date,
      month: string
    ) => Effect.Effect<Environment | undefined>
  }
>()("@sluice/domain/environments/EnvironmentStore") {
  static readonly layer = Layer.effect(
    EnvironmentStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const columns = (month: string) => sql`id, name, is_default as "isDefault", monthly_budget as "monthlyBudget",
        spent_in(environments, ${month}::date) as "monthSpent", created_at as "createdAt",
        (greatest(month, ${month}::date) + interval '1 month') at time zone 'UTC' as "budgetResetsAt"`
      const first = Effect.map((rows: ReadonlyArray<object>): Environment | undefined => environmentRows(rows)[0])

      return EnvironmentStore.of({
        get: (workspaceId, id, month) =>
          sql`select ${columns(month)} from environments where workspace_id = ${workspaceId} and id = ${id}`.pipe(
            first,
            Effect.orDie
          ),
        list: Effect.fnUntraced(function* (workspaceId, page, month) {
          const after = page.after === undefined ? sql`true` : sql`id < ${page.after}`
          const rows = yield* sql`select ${columns(month)} from environments
            where workspace_id = ${workspaceId} and ${after} order by id desc limit ${page.limit + 1}`
          const counts = yield* sql`select count(*) as total from environments where workspace_id = ${workspaceId}`
          return pageOf<Environment>(environmentRows(rows), page, totalOf(counts))
        }, Effect.orDie),
        setBudget: (workspaceId, id, budget, now, month) =>
          sql.unsafe(SET_BUDGET, [workspaceId, id, budget, now, month]).pipe(first, Effect.orDie)
      })
    })
  )
}
