import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { wantedFacts, type MachineFacts } from "../../src/machines/MachineLifecycle.ts"
import { lookAgainAt } from "../../src/machines/MachineSteps.ts"
import type { Observation } from "../../src/machines/MachineProvider.ts"

const NOW = 1_800_000_000_000
const running: MachineFacts = {
  ...wantedFacts(NOW - 70_000),
  status: "running",
  requestedAt: null,
  runningAt: NOW - 60_000,
  commandStartedAt: NOW - 50_000
}
const delay = fc.option(fc.oneof(fc.integer({ min: -100_000, max: 10_000_000 }), fc.constant(Infinity)))
const seen = (at: number, nextIn: number | null, outputIn: number | null): Observation => ({
  state: { _tag: "Running", since: at, command: { _tag: "Started", startedAt: at } },
  at,
  nextAt: nextIn === null ? null : at + nextIn,
  nextOutputAt: outputIn === null ? null : at + outputIn
})

describe("The next look at a machine", () => {
  it("has the same delay for any clock of the provider", () => {
    fc.assert(
      fc.property(delay, delay, fc.integer({ min: -10_000_000, max: 10_000_000 }), (next, output, skew) => {
        const here = lookAgainAt(running, seen(NOW, next, output), NOW)
        assert.strictEqual(lookAgainAt(running, seen(NOW + skew, next, output), NOW), here)
        assert.isAtLeast(here, NOW)
        assert.isAtMost(here, NOW + 3_600_000)
      })
    )
  })

  it("comes soon without a promise of the provider, and ignores output after the command's exit", () => {
    const exited: MachineFacts = { ...running, exit: { at: NOW, code: 0, why: "exit" } }
    assert.strictEqual(lookAgainAt(running, seen(NOW, null, null), NOW), NOW + 2_000)
    assert.strictEqual(lookAgainAt({ ...running, commandStartedAt: null }, seen(NOW, null, null), NOW), NOW + 2_000)
    assert.strictEqual(lookAgainAt(exited, seen(NOW, 1_800_000, 0), NOW), NOW + 1_800_000)
  })

  it("comes at the promised change, and for output alone at a moment that machines share", () => {
    assert.strictEqual(lookAgainAt(running, seen(NOW, 1_234, Infinity), NOW), NOW + 1_234)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_000_000 }), (output) => {
        const at = lookAgainAt(running, seen(NOW, Infinity, output), NOW)
        assert.strictEqual(at % 60_000, 0)
        assert.isBelow(at, NOW + Math.max(output, 60_000) + 60_000)
        assert.isAtLeast(at, NOW + output)
      })
    )
  })
})
