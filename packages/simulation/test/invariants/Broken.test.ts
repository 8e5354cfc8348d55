/** Each invariant is broken by hand once, and that one alone is reported. */
import { assert } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { onPglite } from "@sluice/testing/engines/Databases"
import { INVARIANTS, titleOf } from "../../src/invariants/Invariants.ts"
import { makeInvariants } from "../../src/invariants/InvariantChecker.ts"
import { fleet } from "./support/HealthyFleet.ts"
import { BREAKS, JOB, NOW, rows } from "./support/Breaks.ts"
import { VIDEO_BREAKS, videoRows } from "./support/VideoBreaks.ts"

const LOOK = { now: NOW, sweepMs: 61_000, stopMs: 5_000, filmMs: 3_600_000 }
const TOLD = { videos: [], answered: [], failed: [], twins: [], misled: [], unanswered: [] }
const END = { now: NOW, accepted: [JOB.done], expected: () => "out\n", secrets: ["canary-1"], texts: [], ...TOLD }
/** One event for each status that a healthy row took. */
const EVENTS = `insert into outbox_events (workspace_id, environment_id, type, resource_type, resource_id, data, created_at)
  select resource_id, resource_id, resource_type || '.' || status, resource_type, resource_id, '{}', '2026-01-01Z'
  from simulation_changes order by seq`
const ROWS = [...rows, ...videoRows, EVENTS]
const ALL = [...BREAKS, ...VIDEO_BREAKS]

class RolledBack extends Schema.TaggedError<RolledBack>()("RolledBack", { numbers: Schema.Array(Schema.Int) }) {}

onPglite("An invariant that is broken", (it) => {
  it.effect("is reported, and no other is", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW)
      const sql = yield* PgClient.PgClient
      const invariants = makeInvariants(sql)
      yield* invariants.install
      for (const statement of ROWS) yield* sql.unsafe(statement)
      assert.deepStrictEqual(yield* invariants.check(LOOK), [])
      const named = new Map(INVARIANTS.map((invariant) => [titleOf(invariant), invariant.number]))

      /** What is found with the change in place; then it never was. */
      const foundWith = ({ change, end }: (typeof ALL)[number]) =>
        Effect.gen(function* () {
          for (const statement of change) yield* sql.unsafe(statement)
          const broken = [
            ...(yield* invariants.check(LOOK)),
            ...(end === undefined ? [] : yield* invariants.checkEnd({ ...END, ...end }))
          ]
          return yield* new RolledBack({ numbers: broken.map(({ invariant }) => named.get(invariant) ?? 0) })
        }).pipe(
          sql.withTransaction,
          Effect.catchTag("RolledBack", ({ numbers }) => Effect.succeed(numbers))
        )

      const wrong: Array<unknown> = []
      for (const one of ALL) {
        const numbers = yield* foundWith(one)
        if (numbers.length !== 1 || numbers[0] !== one.number) wrong.push({ ...one, numbers })
      }
      assert.deepStrictEqual(wrong, [])
      assert.deepStrictEqual(
        [...new Set(ALL.map(({ number }) => number))].sort((a, b) => a - b),
        INVARIANTS.map(({ number }) => number)
      )
    }).pipe(Effect.provide(fleet))
  )

  it.effect("a budget that is spent stops what runs within the bound of its setting", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW)
      const sql = yield* PgClient.PgClient
      const invariants = makeInvariants(sql)
      yield* invariants.install
      for (const statement of ROWS) yield* sql.unsafe(statement)
      yield* sql.unsafe(`update environments set monthly_budget = 700000`)
      assert.deepStrictEqual(yield* invariants.check(LOOK), [])
      assert.deepStrictEqual(yield* invariants.check({ ...LOOK, now: NOW + 4_000 }), [])
      const late = yield* invariants.check({ ...LOOK, now: NOW + 6_000 })
      assert.deepStrictEqual(
        late.map(({ invariant }) => invariant),
        ["I17 A stop keeps its bound"]
      )
      // Lowered between two looks: the bound begins with the new one.
      yield* sql.unsafe(`update environments set monthly_budget = 600000`)
      assert.deepStrictEqual(yield* invariants.check({ ...LOOK, now: NOW + 60_000 }), [])
    }).pipe(Effect.provide(fleet))
  )
})
