/** A healthy fleet breaks no invariant at any step, and a look at it is quick. */
import { assert } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { onPglite } from "@sluice/testing/engines/Databases"
import { tick } from "@sluice/testing/fixtures/Tick"
import { makeInvariants } from "../../src/invariants/InvariantChecker.ts"
import { fleet, play, submitAll, T0 } from "./support/HealthyFleet.ts"

const LOOK = { sweepMs: 61_000, stopMs: 5_000, filmMs: 3_600_000 }

const TOLD = { videos: [], answered: [], failed: [], twins: [], misled: [], unanswered: [] }

onPglite("A healthy fleet", (it) => {
  it.effect("breaks nothing at any step", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const sql = yield* PgClient.PgClient
      const invariants = makeInvariants(sql)
      yield* invariants.install
      const accepted = yield* submitAll
      const walls: Array<number> = []
      const look = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const from = performance.now()
        const broken = yield* invariants.check({ now, ...LOOK })
        walls.push(performance.now() - from)
        assert.deepStrictEqual(broken, [], `at ${now - T0} ms`)
      })
      yield* play(tick, look)
      const now = yield* Clock.currentTimeMillis
      const context = { now, accepted, expected: () => undefined, secrets: ["canary-of-a-secret"], texts: [], ...TOLD }
      assert.deepStrictEqual(yield* invariants.checkEnd(context), [])
      assert.isAbove(walls.length, 50)
      const sorted = walls.toSorted((a, b) => a - b)
      console.log(`${walls.length} looks, ${sorted[sorted.length >> 1]!.toFixed(2)} ms each (median)`)
    }).pipe(Effect.provide(fleet))
  )
})
