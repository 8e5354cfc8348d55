/** The same answers from both stores through one client: types, errors, transactions, interruption, notifications. */
import { expect } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { BatchSql, RelaxedSql } from "@sluice/domain/database/Clients"
import { Effect, Exit, Fiber, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"

const WORKSPACE = "01890000-0000-7000-8000-000000000001"
const insertWorkspace = (name: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`insert into workspaces (id, name, created_at) values (${WORKSPACE}, ${name}, ${new Date(0)})`
  )
const countWorkspaces = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql<{ readonly count: bigint }>`select count(*) from workspaces`.pipe(Effect.map((rows) => rows[0]?.count))
)

onEveryDatabase("database clients", (it) => {
  it.effect("return int8 as bigint, timestamptz as Date, bytea as bytes, and parsed json", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const bytes = new Uint8Array([0, 255, 7])
      const [row] =
        yield* sql`select ${2n ** 60n}::int8 as big, ${new Date(5)}::timestamptz as at, ${bytes}::bytea as raw,
        ${JSON.stringify({ a: [1] })}::json as doc`
      expect(row).toEqual({ big: 2n ** 60n, at: new Date(5), raw: bytes, doc: { a: [1] } })
    })
  )

  it.effect("start each test with an empty database (first test)", () =>
    insertWorkspace("one").pipe(
      Effect.andThen(countWorkspaces),
      Effect.map((n) => expect(n).toBe(1n))
    )
  )
  it.effect("start each test with an empty database (second test)", () =>
    insertWorkspace("one").pipe(
      Effect.andThen(countWorkspaces),
      Effect.map((n) => expect(n).toBe(1n))
    )
  )

  it.effect("name the violated constraint", () =>
    Effect.gen(function* () {
      yield* insertWorkspace("one")
      const error = yield* Effect.flip(insertWorkspace("one"))
      expect(error.reason).toMatchObject({ _tag: "UniqueViolation", constraint: "workspaces_pkey" })
      const sql = yield* SqlClient.SqlClient
      const check = yield* Effect.flip(sql`insert into accounts (id, balance) values (${WORKSPACE}, -1)`)
      expect(check.reason).toMatchObject({ _tag: "ConstraintError", cause: { constraint: "sufficient_funds" } })
    })
  )

  it.effect("roll an interrupted transaction back and stay usable", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const inside = yield* Queue.unbounded<void>()
      const stuck = insertWorkspace("lost").pipe(
        Effect.andThen(Queue.offer(inside, undefined)),
        Effect.andThen(Effect.never)
      )
      const fiber = yield* Effect.forkChild(sql.withTransaction(stuck))
      yield* Queue.take(inside)
      yield* Fiber.interrupt(fiber)
      expect(yield* countWorkspaces).toBe(0n)
    })
  )

  it.effect("keep concurrent statements out of a transaction", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const failed = sql.withTransaction(insertWorkspace("undone").pipe(Effect.andThen(Effect.fail("no"))))
      const many = Effect.forEach(Array.from({ length: 50 }), () => sql`select 1`, { concurrency: 8, discard: true })
      yield* Effect.all([Effect.exit(failed), many], { concurrency: 2 })
      expect(yield* countWorkspaces).toBe(0n)
    })
  )

  it.effect("carry notifications from one connection to another", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const heard = yield* sql.listen("jobs_due")
      yield* sql.notify("jobs_due", "x")
      expect(yield* Queue.take(heard)).toMatchObject({ channel: "jobs_due", payload: "x" })
    })
  )

  it.effect("survive a clock that jumps by a day between queries", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (let day = 0; day < 3; day++) {
        const queries = Effect.forEach(Array.from({ length: 20 }), () => sql`select 1`, {
          concurrency: 10,
          discard: true
        })
        const [exit] = yield* Effect.all([Effect.exit(queries), TestClock.adjust("1 day")], { concurrency: 2 })
        expect(Exit.isSuccess(exit)).toBe(true)
      }
    })
  )

  it.effect("reach one database through all three clients", () =>
    Effect.gen(function* () {
      const batch = yield* BatchSql
      const relaxed = yield* RelaxedSql
      yield* insertWorkspace("one")
      expect(yield* batch`select name from workspaces`).toEqual([{ name: "one" }])
      expect(yield* relaxed`select name from workspaces`).toEqual([{ name: "one" }])
    })
  )
})
