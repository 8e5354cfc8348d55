/**
 * The SQL of environments. Every statement names the workspace, so an environment of another workspace is never found.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { NanoUsd } from "../billing/Money.ts"
import { type Page, type PageRequest, pageOf } from "../database/Page.ts"
import { rowsOf, totalOf } from "../database/RowDecoder.ts"
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
      const sql = yield* SqlClient.SqlClient
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
          sql`update environments
            set monthly_budget = ${budget}::int8, budget_reached_on = null, wake_at = least(wake_at, ${now}::timestamptz), events = events + 1
            where workspace_id = ${workspaceId} and id = ${id} returning ${columns(month)}`.pipe(first, Effect.orDie)
      })
    })
  )
}
