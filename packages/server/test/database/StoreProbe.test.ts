/** Readiness: a server is ready when both kinds of its connections to PostgreSQL answer. */
import { expect, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { postgres } from "@sluice/server/database/Database"
import { StoreProbe } from "@sluice/server/site/StoreProbeStore"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { describeOnPostgres, freshDatabase } from "@sluice/testing/engines/Postgres"

describeOnPostgres("StoreProbe on PostgreSQL", () => {
  it.live("a server whose batches find no connection is not ready", () =>
    Effect.gen(function* () {
      const url = new URL(yield* freshDatabase)
      const admin = yield* PgClient.make({ url: Redacted.make(url.href), maxConnections: 1 }).pipe(
        Effect.provide(Reactivity.layer)
      )
      const role = `${url.pathname.slice(1)}_role`
      yield* Effect.acquireRelease(admin.unsafe(`create role ${role} login`), () =>
        admin.unsafe(`drop owned by ${role}`).pipe(Effect.andThen(admin.unsafe(`drop role ${role}`)), Effect.orDie)
      )
      yield* admin.unsafe(`grant all on schema public to ${role}`)
      const mine = new URL(url)
      mine.username = role
      yield* Effect.gen(function* () {
        const { answers } = yield* StoreProbe
        yield* admin.unsafe(`alter role ${role} connection limit 1`)
        expect(yield* Effect.flip(answers)).toMatchObject({ reason: { cause: { code: "53300" } } })
        yield* admin.unsafe(`alter role ${role} connection limit -1`)
        yield* answers
      }).pipe(Effect.provide(StoreProbe.layer.pipe(Layer.provide(postgres({ url: Redacted.make(mine.href) })))))
    })
  )
})
