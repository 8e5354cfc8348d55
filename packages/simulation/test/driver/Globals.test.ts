/** The database's clock and timers are those of the machine, while the rest of a run is on virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Driver } from "../../src/driver/Driver.ts"
import { virtualGlobals } from "../../src/driver/Globals.ts"

const EPOCH = Date.UTC(2100, 0)

/** Replaces the globals for as long as `act` runs, with the database running or not. */
const during = <A>(isReal: boolean, act: () => A): A => {
  const restore = virtualGlobals(new Driver(), { seed: 1, epoch: EPOCH, isReal: () => isReal, asReal: (act) => act() })
  try {
    return act()
  } finally {
    restore()
  }
}

describe("The clock of a run", () => {
  it("is virtual, and the machine's for the database", () => {
    assert.deepStrictEqual(
      during(false, () => [Date.now(), new Date().getTime()]),
      [EPOCH, EPOCH]
    )
    for (const time of during(true, () => [Date.now(), new Date().getTime()])) assert.isBelow(time, EPOCH)
  })

  it("sets a timer of the database on the machine, and no other", () => {
    const { setTimeout } = globalThis
    const set: Array<number | undefined> = []
    Object.assign(globalThis, { setTimeout: (_act: () => void, ms?: number) => void set.push(ms) })
    try {
      during(true, () => globalThis.setTimeout(() => {}, 10_000))
      during(false, () => globalThis.setTimeout(() => {}, 5))
    } finally {
      Object.assign(globalThis, { setTimeout })
    }
    assert.deepStrictEqual(set, [10_000])
  })
})
