/** Sweeps that fail: each logs its fault and runs again. */
import { assert, describe, it } from "@effect/vitest"
import * as Sweep from "@sluice/domain/database/Sweep"
import { Cause, Effect, Logger } from "effect"
import { TestClock } from "effect/testing"

describe("Sweep", () => {
  it.effect("logs a fault, and continues after its pause", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ cause, message }) => void logged.push(`${message}: ${Cause.pretty(cause)}`))
    let sweeps = 0
    const work = Effect.suspend(() => (++sweeps === 1 ? Effect.die(new Error("no such table")) : Effect.void))
    return Effect.gen(function* () {
      yield* Effect.forkChild(Sweep.every("machines", "1 minute", work), { startImmediately: true })
      assert.strictEqual(sweeps, 1)
      assert.strictEqual(logged.length, 1)
      assert.match(logged[0]!, /^the sweep of machines failed: .*no such table/)
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual([sweeps, logged.length], [3, 1])
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})
