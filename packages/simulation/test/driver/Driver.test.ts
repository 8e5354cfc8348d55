/** Virtual time moves only when nothing can run; a killed process is frozen; the same seed gives the same bytes. */
import { assert, describe, it } from "@effect/vitest"
import { Driver } from "../../src/driver/Driver.ts"
import { Process } from "../../src/driver/Process.ts"
import { Timers } from "../../src/driver/Timers.ts"
import { Effect, Exit } from "effect"
import fc from "fast-check"
import { readFile } from "node:fs/promises"

const EPOCH = Date.UTC(2027, 0, 15)
const make = () => {
  const driver = new Driver()
  return { driver, process: new Process(driver, { name: "p", seed: 1, epoch: EPOCH }) }
}
const never = () => false

/** How many of 200 pieces of work seem to take a virtual millisecond, beside a fiber that sleeps one for ever. */
const tooLate = async (work: Effect.Effect<unknown>) => {
  const { driver, process } = make()
  const run = Effect.runForkWith(process.context)
  run(Effect.forever(Effect.sleep(1)))
  let late = 0
  let done = false
  const once = Effect.catchTag(Effect.asVoid(Effect.timeout(work, 1)), "TimeoutError", () => Effect.sync(() => late++))
  run(Effect.repeat(once, { times: 199 })).addObserver(() => (done = true))
  await driver.run(() => done)
  return late
}

const hops = Effect.promise(async () => {
  for (let i = 0; i < 1_000; i++) await Promise.resolve()
  await new Promise<void>((resume) => process.nextTick(resume))
})

describe("Driver", () => {
  it("lets work that needs no real time finish before time moves", async () => {
    assert.strictEqual(await tooLate(hops), 0)
    assert.strictEqual(await tooLate(Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow)), 0)
  })

  it("is overtaken by time where it waits for the machine: the check above can fail", async () => {
    assert.isAbove(await tooLate(Effect.promise(() => readFile(import.meta.filename))), 100)
  })

  it("moves from timer to timer, however far they are", async () => {
    const { driver, process } = make()
    const seen: Array<number> = []
    const fiber = Effect.runForkWith(process.context)(
      Effect.gen(function* () {
        for (const ms of [1, 86_400_000, 250]) {
          yield* Effect.sleep(ms)
          seen.push(driver.now)
        }
      })
    )
    assert.strictEqual(await driver.run(never), "Idle")
    assert.isTrue(Exit.isSuccess(fiber.pollUnsafe()!))
    assert.deepStrictEqual(seen, [1, 86_400_001, 86_400_251])
  })

  it("stops at the given moment", async () => {
    const { driver, process } = make()
    Effect.runForkWith(process.context)(Effect.forever(Effect.sleep(10)))
    assert.strictEqual(await driver.run(never, 1_000), "Until")
    assert.strictEqual(driver.now, 1_000)
  })
})

describe("Process", () => {
  it("runs no finalizer when it is killed, at any of its operations, and all when it is interrupted", async () => {
    const attempt = async (kill: number | "interrupt") => {
      const { driver, process } = make()
      const log: Array<string> = []
      const work = Effect.ensuring(
        Effect.forEach(Array.from({ length: 20 }), () => Effect.sleep(1)),
        Effect.sync(() => log.push("finalizer"))
      )
      if (kill !== "interrupt") process.killAfter(kill)
      const fiber = Effect.runForkWith(process.context)(work)
      if (kill === "interrupt") driver.at(5, () => fiber.interruptUnsafe())
      await driver.run(never)
      return { dead: process.dead, log }
    }
    for (let n = 1; n < 30; n++) assert.deepStrictEqual(await attempt(n), { dead: true, log: [] }, `killed at ${n}`)
    assert.deepStrictEqual(await attempt("interrupt"), { dead: false, log: ["finalizer"] })
  })

  it("draws the same ids from the same seed and name, and others from another", async () => {
    const drawn = async (name: string, seed: number) => {
      const driver = new Driver()
      const { context, crypto } = new Process(driver, { name, seed, epoch: EPOCH })
      let all: ReadonlyArray<string> = []
      Effect.runForkWith(context)(Effect.all(Array.from({ length: 5 }, () => crypto.randomUUIDv7()))).addObserver(
        (exit) => (all = Exit.isSuccess(exit) ? exit.value : [])
      )
      await driver.run(never)
      return all
    }
    const first = await drawn("a", 1)
    assert.strictEqual(new Set(first).size, 5)
    assert.deepStrictEqual(await drawn("a", 1), first)
    assert.notDeepEqual(await drawn("a", 2), first)
    assert.notDeepEqual(await drawn("b", 1), first)
  })
})

describe("Timers", () => {
  it("come in order of their time, then of their registration; cancelled and orphaned ones never", () => {
    const entry = fc.record({ at: fc.integer({ min: 0, max: 20 }), cancelled: fc.boolean(), alive: fc.boolean() })
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 60 }), (entries) => {
        const timers = new Timers()
        const fired: Array<number> = []
        entries.forEach(({ alive, at, cancelled }, i) => {
          const timer = timers.add(
            at,
            () => fired.push(i),
            () => alive
          )
          if (cancelled) timer.fire = undefined
        })
        for (let timer = timers.take(); timer !== undefined; timer = timers.take()) timer.fire?.()
        const expected = entries
          .map((one, i) => ({ ...one, i }))
          .filter((one) => one.alive && !one.cancelled)
          .sort((a, b) => a.at - b.at || a.i - b.i)
          .map((one) => one.i)
        assert.deepStrictEqual(fired, expected)
      })
    )
  })
})
