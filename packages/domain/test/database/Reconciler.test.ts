/** The reconcilers' loop against a table of rows with due times. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Reconciler from "../../src/database/Reconciler.ts"
import { Replica } from "../../src/database/Replica.ts"

const LOOK_MS = 60_000

const table = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const due = new Map<string, number>()
  const stepped: Array<string> = []
  const renewed: Array<string> = []
  /** The duration of a step, the most steps at once, and the behaviour of the database. */
  const state = { lastsMs: 10, steps: 0, most: 0, isAway: false }
  const away = Effect.suspend(() => (state.isAway ? Effect.die("away") : Effect.void))
  let claims = 0
  const reconciler: Reconciler.Reconciler<{ readonly id: string }> = yield* Reconciler.make<{ readonly id: string }>({
    name: "rows",
    slots: 2,
    claim: (limit) =>
      Effect.sync(() => {
        claims++
        if (state.isAway) throw new Error("away")
        const now = clock.currentTimeMillisUnsafe()
        const ids = [...due].filter(([, at]) => at <= now).map(([id]) => id)
        const taken = ids.slice(0, limit)
        for (const id of taken) due.delete(id)
        return taken.map((id) => ({ id }))
      }),
    renew: (ids) =>
      Effect.andThen(
        Effect.sync(() => void renewed.push(...ids)),
        away
      ),
    step: ({ id }) =>
      Effect.suspend(() => {
        state.most = Math.max(state.most, ++state.steps)
        return Effect.sleep(state.lastsMs)
      }).pipe(
        Effect.andThen(
          Effect.sync(() => {
            state.steps--
            stepped.push(id)
          })
        )
      )
  })
  const fiber = yield* Effect.forkChild(reconciler.run)
  yield* TestClock.adjust(0)
  return {
    due,
    stepped,
    renewed,
    state,
    claims: () => claims,
    reconciler,
    end: Fiber.interrupt(fiber)
  }
}).pipe(Effect.provideService(Replica, Replica.of({ id: "r", leaseMs: 30_000, lookMs: LOOK_MS } as Replica["Service"])))

describe("A reconciler", () => {
  it.effect("claims once per signal, and again only when it had no free slot", () =>
    Effect.gen(function* () {
      const { claims, due, end, reconciler, stepped } = yield* table
      const before = claims()
      due.set("a", 0)
      reconciler.signal()
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(stepped, ["a"])
      assert.strictEqual(claims(), before + 1)
      for (const id of ["b", "c", "d", "e", "f"]) due.set(id, 0)
      reconciler.signal()
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual([...stepped].sort(), ["a", "b", "c", "d", "e", "f"])
      assert.isAtMost(claims(), before + 6)
      yield* end
    })
  )

  it.effect("wakes at an alarm set while it sleeps, and by its poll for rows without a signal", () =>
    Effect.gen(function* () {
      const { due, end, reconciler, stepped } = yield* table
      const now = yield* Clock.currentTimeMillis
      due.set("early", now + 5_000)
      reconciler.alarm(now + 5_000)
      yield* TestClock.adjust(5_020)
      assert.deepStrictEqual(stepped, ["early"])
      due.set("untold", 0)
      yield* TestClock.adjust(LOOK_MS)
      assert.deepStrictEqual(stepped, ["early", "untold"])
      yield* end
    })
  )

  it.effect("wakes at each of many alarms, set in any order", () =>
    Effect.gen(function* () {
      const { due, end, reconciler, stepped } = yield* table
      const now = yield* Clock.currentTimeMillis
      const seconds = [37, 5, 22, 41, 13, 2, 30, 18, 45, 9, 26, 33]
      for (const second of seconds) {
        due.set(`${second}`, now + second * 1_000)
        reconciler.alarm(now + second * 1_000)
      }
      const before: Array<string> = []
      for (const second of seconds.toSorted((a, b) => a - b)) {
        yield* TestClock.setTime(now + second * 1_000)
        yield* TestClock.adjust(10)
        before.push(`${second}`)
        assert.deepStrictEqual(stepped, before)
      }
      yield* end
    })
  )

  it.effect("renews a claim until its step has ended, also after a failed renewal", () =>
    Effect.gen(function* () {
      const { due, end, reconciler, renewed, state } = yield* table
      state.lastsMs = 25_000
      due.set("long", 0)
      reconciler.signal()
      yield* TestClock.adjust(1)
      state.isAway = true
      yield* TestClock.adjust(10_000)
      state.isAway = false
      assert.deepStrictEqual(renewed, ["long"], "within a third of a lease")
      yield* TestClock.adjust(10_000)
      assert.deepStrictEqual(renewed, ["long", "long"])
      yield* TestClock.adjust(60_000)
      assert.deepStrictEqual(renewed, ["long", "long"])
      yield* end
    })
  )

  it.effect("steps at most as many rows at once as it has slots", () =>
    Effect.gen(function* () {
      const { due, end, reconciler, state, stepped } = yield* table
      state.lastsMs = 1_000
      for (let n = 0; n < 7; n++) {
        due.set(`${n}`, 0)
        reconciler.signal()
        yield* TestClock.adjust(300)
      }
      yield* TestClock.adjust(10_000)
      assert.deepStrictEqual([stepped.length, state.most], [7, 2])
      yield* end
    })
  )

  it.effect("polls an unavailable database at intervals, and continues when it is back", () =>
    Effect.gen(function* () {
      const { claims, due, end, reconciler, state, stepped } = yield* table
      const before = claims()
      state.isAway = true
      due.set("a", 0)
      for (let n = 0; n < 30; n++) {
        reconciler.signal()
        yield* TestClock.adjust(LOOK_MS / 10)
      }
      assert.isAtMost(claims() - before, 4)
      assert.isAtLeast(claims() - before, 3)
      state.isAway = false
      yield* TestClock.adjust(2 * LOOK_MS)
      assert.deepStrictEqual(stepped, ["a"])
      yield* end
    })
  )

  it.effect("continues to poll after the clock went back", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(10 * LOOK_MS)
      const { due, end, stepped } = yield* table
      yield* TestClock.setTime(LOOK_MS)
      due.set("untold", 0)
      yield* TestClock.adjust(12 * LOOK_MS)
      assert.deepStrictEqual(stepped, ["untold"])
      yield* end
    })
  )
})
