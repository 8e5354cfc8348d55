/** Ten thousand whole lives of jobs with hours of runtime, in virtual time: all end, and the books are exact. */
import { assert } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Jobs } from "@sluice/domain/jobs/Jobs"
import { instantWorld, type World } from "@sluice/simulator/world/World"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { onPglite } from "@sluice/testing/engines/Databases"
import { auditBooks, makeTenant } from "@sluice/testing/fixtures/Tenants"
import { playUntil, virtualFleet } from "@sluice/testing/fixtures/VirtualFleet"

const JOBS = Number(process.env["SLUICE_TEST_JOBS"] ?? 10_000)
const HOUR = 3_600_000
const T0 = Date.UTC(2027, 2, 15)
/** Room for everything, and the default world's times. */
const world: World = {
  ...instantWorld,
  seed: 11,
  launchMs: [3_000, 12_000],
  setUpMs: [1_000, 4_000],
  stopMs: [500, 2_000]
}

const commandOf = (i: number) =>
  `echo started; sleep ${600 + ((i * 7_919) % 18_000)}; echo done; exit ${i % 5 === 0 ? 3 : 0}`

onPglite("Ten thousand jobs", (it) => {
  it.effect(
    "live and end in virtual time",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(T0)
        const jobs = yield* Jobs
        const sql = yield* PgClient.PgClient
        const principal = yield* makeTenant({ credit: 10_000_000_000_000_000n })
        const wall = performance.now()
        const submit = (i: number) =>
          jobs.submit(principal, {
            command: commandOf(i),
            gpu_type: "A100",
            max_runtime_minutes: i % 10 === 0 ? 60 : 1_440
          })
        yield* Effect.forEach(
          Array.from({ length: JOBS }, (_, i) => i),
          submit,
          { concurrency: 64, discard: true }
        )
        const submitted = performance.now()
        // Each advance covers a minute. Late stops cost the customers more, which this test does not check.
        yield* playUntil(T0 + 30 * HOUR, 60_000)
        const seconds = (performance.now() - wall) / 1_000
        const rows = yield* sql.unsafe<{ readonly status: string; readonly n: bigint; readonly hours: number }>(
          `select status, count(*) as n, sum(extract(epoch from ended_at - started_at) / 3600)::float8 as hours from jobs group by status order by status`
        )
        const count = new Map(rows.map((row) => [row.status, Number(row.n)]))
        const timedOut = count.get("timed_out") ?? 0
        assert.deepStrictEqual([...count.keys()], ["failed", "succeeded", "timed_out"])
        assert.strictEqual((count.get("failed") ?? 0) + (count.get("succeeded") ?? 0) + timedOut, JOBS)
        assert.isAbove(timedOut, JOBS / 20)
        assert.deepStrictEqual(yield* auditBooks, [])
        const left = yield* sql.unsafe(
          `select held from accounts where held > 0 union all select amount from holds where state = 'open'`
        )
        assert.deepStrictEqual(left, [])
        const hours = rows.reduce((sum, row) => sum + row.hours, 0)
        const virtual = ((yield* Clock.currentTimeMillis) - T0) / HOUR
        console.log(
          `${JOBS} jobs, ${Math.round(hours)} machine hours in ${Math.round(virtual)} virtual hours: ${seconds.toFixed(1)} s ` +
            `(${((submitted - wall) / 1_000).toFixed(1)} s to submit them), ${Math.round(JOBS / seconds)} jobs a second`
        )
      }).pipe(Effect.provide(virtualFleet(world))),
    1_800_000
  )
})
