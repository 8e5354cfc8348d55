/** Compiled statements are not cached, and each keeps its own text when it runs twice. */
import { assert, it } from "@effect/vitest"
import * as PgClient from "@effect/sql-pg/PgClient"
import { BatchSql, RelaxedSql } from "@sluice/domain/database/Clients"
import { Cause, Effect, Exit } from "effect"
import { disableStatementCache, StatementCacheUnknown } from "@sluice/server/database/StatementCacheOff"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"

onEveryDatabase("a client's statements", (test) => {
  test.effect("statements are released once they were compiled", () =>
    Effect.gen(function* () {
      for (const sql of [yield* PgClient.PgClient, yield* BatchSql, yield* RelaxedSql]) {
        const statement = sql`select ${"a"}::text as a`
        const [first, second] = [statement.compile(), statement.compile()]
        assert.notStrictEqual(first, second)
        assert.deepStrictEqual(first, second)
      }
    })
  )

  test.effect("statements keep their text when one runs twice", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const [one, two] = [sql`select ${1}::int4 as n`, sql`select ${2}::int4 as n`]
      const told = yield* Effect.all([one, two, one])
      assert.deepStrictEqual(told.flat(), [{ n: 1 }, { n: 2 }, { n: 1 }])
    })
  )
})

it.effect("a version of effect that keeps its statements elsewhere stops the start, and says why", () =>
  Effect.gen(function* () {
    const renamed = { unsafe: () => ({ compiler: { statementCache: new WeakMap(), cacheNoTransform: new WeakMap() } }) }
    const exit = yield* Effect.exit(disableStatementCache(renamed as unknown as PgClient.PgClient))
    const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert.instanceOf(defect, StatementCacheUnknown)
    assert.deepStrictEqual(defect.fields, ["statementCacheNoTransform"])
    assert.include(defect.message, "package-lock.json")
  })
)
