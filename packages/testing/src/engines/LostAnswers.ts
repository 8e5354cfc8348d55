/** Clients that lose the connection after a statement was done: what it answers is not heard, as when a network breaks. */
import { PgClient } from "@effect/sql-pg"
import { BatchSql } from "@sluice/domain/database/Clients"
import { Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"

/** How many answers are still to be lost, and to which statements. */
export interface Losses {
  left: number
  readonly of: RegExp
}

export const lost = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({ cause: new Error("read ECONNRESET"), operation: "query" })
})

/** All clients but the relaxed one. */
export const losing = (losses: Losses) =>
  Layer.mergeAll(
    Layer.effect(
      BatchSql,
      Effect.map(BatchSql, (sql) => lossy(sql, losses))
    ),
    Layer.effect(
      PgClient.PgClient,
      Effect.map(PgClient.PgClient, (sql) => lossy(sql, losses))
    ),
    Layer.effect(
      SqlClient.SqlClient,
      Effect.map(SqlClient.SqlClient, (sql) => lossy(sql, losses))
    )
  )

const lossy = <C extends SqlClient.SqlClient>(sql: C, losses: Losses): C => {
  const heard = <A>(statement: A, text: string): A =>
    losses.of.test(text) && Effect.isEffect(statement)
      ? (Effect.flatMap(statement, (rows) =>
          Effect.suspend(() => (losses.left-- > 0 ? Effect.fail(lost) : Effect.succeed(rows)))
        ) as A)
      : statement
  return new Proxy(sql, {
    apply: (target, self, given: Array<unknown>) =>
      heard(Reflect.apply(target, self, given), [given[0]].flat().join("?")),
    get: (target, name) =>
      name === "unsafe"
        ? (text: string, values?: ReadonlyArray<unknown>) => heard(target.unsafe(text, values), text)
        : Reflect.get(target, name)
  })
}
