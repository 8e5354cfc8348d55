/** The loop of the reconcilers, held against a table of rows that are due at a time. */
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
  let claims = 0
  const reconciler: Reconciler.Reconciler<{ readonly id: string }> = yield* Reconciler.make<{ readonly id: string }>({
    name: "rows",
    slots: 2,
    claim: (limit) =>
      Effect.sync(() => {
        claims++
        const now = clock.currentTimeMillisUnsafe()
        const ids = [...due].filter(([, at]) => at <= now).map(([id]) => id)
        const taken = ids.slice(0, limit)
        for (const id of taken) due.delete(id)
        return taken.map((id) => ({ id }))
      }),
    renew: () => Effect.void,
    step: ({ id }) =>
      Effect.andThen(
        Effect.sleep(10),
        Effect.sync(() => void stepped.push(id))
      )
  })
  const fiber = yield* Effect.forkChild(reconciler.run)
  yield* TestClock.adjust(0)
  return {
    due,
    stepped,
    claims: () => claims,
    reconciler,
    end: Fiber.interrupt(fiber)
  }
}).pipe(Effect.provideService(Replica, Replica.of({ id: "r", leaseMs: 30_000, lookMs: LOOK_MS } as Replica["Service"])))

describe("A reconciler", () => {
  it.effect("claims once for one signal, and again only when it could take no more", () =>
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

  it.effect("wakes at an alarm that is set while it sleeps, and by the poll for what nobody told it of", () =>
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

  it.effect("polls on where the clock went back", () =>
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
