/** Nothing of a statement is remembered, and each says what it was made of, though it is run twice. */
import { assert } from "@effect/vitest"
import * as PgClient from "@effect/sql-pg/PgClient"
import { BatchSql, RelaxedSql } from "@sluice/domain/database/Clients"
import { Effect } from "effect"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"

onEveryDatabase("a client's statements", (it) => {
  it.effect("are forgotten once they were compiled", () =>
    Effect.gen(function* () {
      for (const sql of [yield* PgClient.PgClient, yield* BatchSql, yield* RelaxedSql]) {
        const statement = sql`select ${"a"}::text as a`
        const [first, second] = [statement.compile(), statement.compile()]
        assert.notStrictEqual(first, second)
        assert.deepStrictEqual(first, second)
      }
    })
  )

  it.effect("are what they say, though one is run twice", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const [one, two] = [sql`select ${1}::int4 as n`, sql`select ${2}::int4 as n`]
      const told = yield* Effect.all([one, two, one])
      assert.deepStrictEqual(told.flat(), [{ n: 1 }, { n: 2 }, { n: 1 }])
    })
  )
})
