/** Sessions on PostgreSQL: their settings override the database's own defaults, and their age is bounded. */
import { assert, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { BatchSql, RelaxedSql } from "@sluice/domain/database/Clients"
import { postgres } from "@sluice/server/database/Database"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { TestClock } from "effect/testing"
import { describeOnPostgres, freshDatabase } from "@sluice/testing/engines/Postgres"

/** A database of its own that tests change from outside: `renewed` makes all sessions reconnect. */
const setUp = Effect.gen(function* () {
  const url = Redacted.make(yield* freshDatabase)
  const outside = yield* PgClient.make({
    url,
    maxConnections: 1,
    startupParameters: { default_transaction_read_only: "off" }
  }).pipe(Effect.provide(Reactivity.layer))
  const name = new URL(Redacted.value(url)).pathname.slice(1)
  return {
    change: (what: string) => outside.unsafe(`alter database ${name} ${what}`),
    renewed: outside`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
    opened: Effect.gen(function* () {
      const context = yield* Layer.build(Layer.fresh(postgres({ url })))
      return yield* Effect.provide(Effect.all([PgClient.PgClient, BatchSql, RelaxedSql]), context)
    })
  }
})

/** The value of a setting in each client's session; a connection that was closed is reported once. */
const settings = (clients: ReadonlyArray<PgClient.PgClient>, name: string) =>
  Effect.forEach(clients, (sql) =>
    Effect.map(Effect.retry(sql.unsafe(`show ${name}`), { times: 3 }), ([row]) => Object.values(row!)[0])
  )

describeOnPostgres("Sessions on PostgreSQL", () => {
  it.effect("sessions live for a minute at most, so that a database that was read-only becomes writable", () =>
    Effect.gen(function* () {
      const { change, opened, renewed } = yield* setUp
      const clients = yield* opened
      const readOnly = settings(clients, "transaction_read_only")
      yield* change("set default_transaction_read_only = on")
      yield* renewed
      assert.deepStrictEqual(yield* readOnly, ["on", "on", "on"])
      yield* change("reset default_transaction_read_only")
      assert.deepStrictEqual(yield* readOnly, ["on", "on", "on"])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* readOnly, ["off", "off", "off"])
    })
  )

  it.effect("sessions read committed data under any default isolation of the database", () =>
    Effect.gen(function* () {
      const { change, opened } = yield* setUp
      yield* change("set default_transaction_isolation = 'serializable'")
      const isolation = yield* settings(yield* opened, "transaction_isolation")
      assert.deepStrictEqual(isolation, ["read committed", "read committed", "read committed"])
    })
  )
})
