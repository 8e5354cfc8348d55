/** The clock and the timers are virtual for a run alone: the database and the rest of the process keep those of the machine. */
import { assert, describe, it } from "@effect/vitest"
import { Driver } from "../../src/driver/Driver.ts"
import { virtualGlobals } from "../../src/driver/Globals.ts"

const EPOCH = Date.UTC(2100, 0)

const replaced = (isReal = false) =>
  virtualGlobals(new Driver(), { seed: 1, epoch: EPOCH, isReal: () => isReal, asReal: (act) => act() })

/** Runs `act` in a run, with the database running or not. */
const during = <A>(isReal: boolean, act: () => A): A => {
  const { restore, within } = replaced(isReal)
  try {
    return within(act)
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

  it("is seen by no timer that other code of the process set before the run, and sets that timer again on the machine", async () => {
    const ofTheOther = new Promise<number>((resolve) => {
      setTimeout(() => {
        const seen = Date.now()
        globalThis.setTimeout(() => resolve(seen), 1)
      }, 1)
    })
    const { restore, within } = replaced()
    try {
      const ofTheRun = within(async () => {
        await new Promise<void>((resume) => setImmediate(resume))
        return Date.now()
      })
      assert.strictEqual(await ofTheRun, EPOCH)
      assert.isBelow(await ofTheOther, EPOCH)
    } finally {
      restore()
    }
  })
})
