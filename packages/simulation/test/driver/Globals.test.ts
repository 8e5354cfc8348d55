/** Timers of the machine, which those of the database are, while the rest of a run is on virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Driver } from "../../src/driver/Driver.ts"
import { virtualGlobals } from "../../src/driver/Globals.ts"

describe("A timer of the machine", () => {
  it("is set for no longer than Node can wait", () => {
    const { setInterval, setTimeout } = globalThis
    const set: Array<number | undefined> = []
    const noted = (_act: () => void, ms?: number) => void set.push(ms)
    Object.assign(globalThis, { setTimeout: noted, setInterval: noted })
    const restore = virtualGlobals(new Driver(), { seed: 1, epoch: 0, isReal: () => true, asReal: (act) => act() })
    try {
      globalThis.setTimeout(() => {}, 30 * 86_400_000)
      globalThis.setInterval(() => {}, Number.POSITIVE_INFINITY)
      globalThis.setTimeout(() => {}, 5)
    } finally {
      restore()
      Object.assign(globalThis, { setTimeout, setInterval })
    }
    assert.deepStrictEqual(set, [2 ** 31 - 1, 2 ** 31 - 1, 5])
  })
})
