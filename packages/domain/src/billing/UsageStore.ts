/** Reads inference usage: the sum over some days, and its groups by day, model, key or environment. */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Context, Effect, Layer, Schema } from "effect"
import { type Page, type PageRequest, pageOf } from "../database/Page.ts"
import { rowsOf, totalOf } from "../database/RowDecoder.ts"
import type { UsageBy, UsageGroup, UsageSummary } from "./Usage.ts"

const SumRow = Schema.Struct({
  requests: Schema.BigInt,
  tokens_in: Schema.BigInt,
  tokens_out: Schema.BigInt,
  cost: Schema.BigInt
})
const sumRows = rowsOf("UsageStore", SumRow)
const groupRows = rowsOf(
  "UsageStore",
  Schema.Struct({ ...SumRow.fields, id: Schema.String, name: Schema.NullOr(Schema.String) })
)

const SUMS = `count(*) as requests, coalesce(sum(tokens_in), 0)::int8 as tokens_in, coalesce(sum(tokens_out), 0)::int8 as tokens_out,
  coalesce(sum(cost), 0)::int8 as cost from usage where workspace_id = $1 and at >= $2 and at < $3`

/** The SQL of a group's id and name. */
const GROUPS: Readonly<Record<UsageBy, { readonly id: string; readonly name: string }>> = {
  day: { id: `to_char(at at time zone 'UTC', 'YYYY-MM-DD')`, name: "null::text" },
  model: { id: "model", name: "null::text" },
  key: { id: "key_id::text", name: "(select k.name from api_keys k where k.id = g.id::uuid)" },
  environment: { id: "environment_id::text", name: "(select e.name from environments e where e.id = g.id::uuid)" }
}

export class UsageStore extends Context.Service<
  UsageStore,
  {
    readonly sum: (workspaceId: string, from: Date, before: Date) => Effect.Effect<UsageSummary>
    /** In the order of their ids, days the newest first. Their sum is `sum`. */
    readonly groups: (
      workspaceId: string,
      by: UsageBy,
      from: Date,
      before: Date,
      page: PageRequest
    ) => Effect.Effect<Page<UsageGroup>>
  }
>()("@sluice/domain/billing/UsageStore") {
  static readonly layer = Layer.effect(
    UsageStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const sum = Effect.fnUntraced(function* (workspaceId: string, from: Date, before: Date) {
        const rows = yield* sql.unsafe(`select ${SUMS}`, [workspaceId, from, before])
        return summaryOf(sumRows(rows)[0]!)
      }, Effect.orDie)

      const groups = Effect.fnUntraced(function* (
        workspaceId: string,
        by: UsageBy,
        from: Date,
        before: Date,
        page: PageRequest
      ) {
        const { id, name } = GROUPS[by]
        const [after, order] = by === "day" ? ["<", "desc"] : [">", "asc"]
        const [rows, counts] = yield* Effect.all([
          sql.unsafe(
            `select g.*, ${name} as name from (select ${id} collate "C" as id, ${SUMS} group by 1) g
               where $4::text is null or g.id ${after} $4::text order by g.id ${order} limit $5`,
            [workspaceId, from, before, page.after ?? null, page.limit + 1]
          ),
          sql.unsafe(
            `select count(distinct ${id}) as total from usage where workspace_id = $1 and at >= $2 and at < $3`,
            [workspaceId, from, before]
          )
        ])
        const items = groupRows(rows).map((row) => ({ id: row.id, name: row.name, ...summaryOf(row) }))
        return pageOf<UsageGroup>(items, page, totalOf(counts))
      }, Effect.orDie)

      return UsageStore.of({ sum, groups })
    })
  )
}

const summaryOf = (row: typeof SumRow.Type): UsageSummary => ({
  requests: Number(row.requests),
  promptTokens: Number(row.tokens_in),
  completionTokens: Number(row.tokens_out),
  cost: row.cost
})
