/** Gauges of the world's current state: counted by indexes of live rows alone, and left out while the database does not answer. */
import { assert, describe, it } from "@effect/vitest"
import { ModelProvider, type UpstreamHealth } from "@sluice/domain/models/ModelProvider"
import { RateLimits, type Sharing } from "@sluice/domain/limits/RateLimits"
import { inMemory } from "@sluice/server/database/Database"
import { LIVE, LiveCounts } from "@sluice/server/metrics/LiveCountsStore"
import * as ServerMetrics from "@sluice/server/metrics/ServerMetrics"
import { makeWorldMetrics } from "@sluice/server/metrics/WorldMetrics"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Family, Tally } from "@sluice/domain/metrics/Family"

const valuesOf = (family: Family<Tally>) =>
  Object.fromEntries([...family.all].map(({ content, values }) => [values.join(" "), content.value]))

let sharing: Sharing = "shared"
let state: UpstreamHealth["state"] = "closed"
const around = Layer.mergeAll(
  Layer.succeed(RateLimits, { consume: () => Effect.never, sharing: Effect.sync(() => sharing) }),
  Layer.succeed(ModelProvider, {
    models: [],
    chat: () => Effect.never,
    health: Effect.sync(() => [{ model: "m", upstream: 1, state }])
  }),
  ServerMetrics.layer
)

const job = (id: number, status: string, ended: boolean) => `insert into jobs
  (id, workspace_id, environment_id, machine_id, name, status, spec, price, created_at, ended_at, wake_at)
  values ('00000000-0000-7000-8000-00000000000${id}', '00000000-0000-7000-8000-000000000001',
    '00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-00000000000${id}', 'n', '${status}', '{}', 1,
    '2026-01-01', ${ended ? "'2026-01-01'" : "null"}, '2026-01-01')`

describe("The world's gauges", () => {
  it.live("count live rows by status", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const metrics = yield* ServerMetrics.ServerMetrics
      for (const [at, status] of ["queued", "running", "running"].entries()) yield* sql.unsafe(job(at, status, false))
      for (const [at, status] of ["succeeded", "failed"].entries()) yield* sql.unsafe(job(at + 5, status, true))
      yield* (yield* makeWorldMetrics).refresh
      assert.deepStrictEqual(valuesOf(metrics.jobs), { queued: 1, starting: 0, running: 2 })
      assert.deepStrictEqual(valuesOf(metrics.machines), { wanted: 0, launching: 0, running: 0, stopping: 0 })
      assert.deepStrictEqual(valuesOf(metrics.videos), { queued: 0, in_progress: 0 })
    }).pipe(Effect.provide(Layer.mergeAll(around, LiveCounts.layer.pipe(Layer.provideMerge(inMemory)))))
  )

  it.live("count through partial indexes that hold no ended rows", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const plan = yield* sql.unsafe<Record<string, string>>(`explain ${LIVE}`)
      const text = plan.map((row) => Object.values(row)[0]).join("\n")
      for (const index of ["jobs_due", "machines_due", "videos_due"]) assert.include(text, index)
      assert.notInclude(text, "Seq Scan")
    }).pipe(Effect.provide(inMemory))
  )

  it.live("are left out while the database fails, and return when it answers", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const metrics = yield* ServerMetrics.ServerMetrics
      metrics.jobs.of("running").value = 7
      yield* sql`alter table videos rename to videos_gone`
      yield* (yield* makeWorldMetrics).refresh
      for (const kind of ["jobs", "machines", "videos"] as const) assert.deepStrictEqual(valuesOf(metrics[kind]), {})
      assert.deepStrictEqual(valuesOf(metrics.sharing), { own: 0, shared: 1, lost: 0 })
      yield* sql`alter table videos_gone rename to videos`
      yield* (yield* makeWorldMetrics).refresh
      assert.deepStrictEqual(valuesOf(metrics.jobs), { queued: 0, starting: 0, running: 0 })
    }).pipe(Effect.provide(Layer.mergeAll(around, LiveCounts.layer.pipe(Layer.provideMerge(inMemory)))))
  )

  it.live("wait one second for a database that hangs, and share one question among concurrent scrapes", () =>
    Effect.gen(function* () {
      let asked = 0
      const hangs = LiveCounts.of({ counts: Effect.suspend(() => (asked++, Effect.never)) })
      const metrics = yield* ServerMetrics.ServerMetrics
      const { refresh } = yield* Effect.provideService(makeWorldMetrics, LiveCounts, hangs)
      // It would never end if it waited for the database.
      yield* Effect.forEach([1, 2, 3], () => refresh, { concurrency: "unbounded", discard: true })
      yield* refresh
      assert.strictEqual(asked, 1)
      assert.deepStrictEqual(valuesOf(metrics.jobs), {})
    }).pipe(Effect.provide(around))
  )

  it.live("show one state per model server, and one state of the rate limits", () =>
    Effect.gen(function* () {
      const none = LiveCounts.of({ counts: Effect.succeed([]) })
      const metrics = yield* ServerMetrics.ServerMetrics
      const { refresh } = yield* Effect.provideService(makeWorldMetrics, LiveCounts, none)
      yield* refresh
      assert.deepStrictEqual(valuesOf(metrics.upstreams), {
        "m 1 closed": 1,
        "m 1 resting": 0,
        "m 1 open": 0,
        "m 1 half_open": 0
      })
      sharing = "lost"
      state = "open"
      yield* refresh
      assert.deepStrictEqual(valuesOf(metrics.sharing), { own: 0, shared: 0, lost: 1 })
      assert.deepStrictEqual(Object.values(valuesOf(metrics.upstreams)), [0, 0, 1, 0])
    }).pipe(Effect.provide(around))
  )
})
