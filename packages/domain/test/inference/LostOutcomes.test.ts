/** The database commits, and what it answers is lost on the way: nobody is refused for it, and nothing is booked twice. */
import { NodeCrypto } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import { Metering } from "@sluice/domain/inference/Metering"
import { MeteringStore } from "@sluice/domain/inference/MeteringStore"
import { Effect, Exit, Fiber, Layer } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "../../../../test/support/Databases.ts"
import { idOf, money, openWorkspace, replica } from "./support/Workspace.ts"

/** How many outcomes are still to be lost, whether one was, and whether a flush is under way. */
const wire = { toLose: 0, lost: false, busy: false }
const broken = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("read ECONNRESET") }) })

const losing = Layer.effect(
  MeteringStore,
  Effect.map(MeteringStore, (store) =>
    MeteringStore.of({
      ...store,
      flush: (...given) =>
        Effect.suspend(() => {
          wire.busy = true
          return Effect.filterOrFail(
            store.flush(...given),
            () => {
              wire.busy = false
              wire.lost = wire.toLose-- > 0
              return !wire.lost
            },
            () => broken
          )
        })
    })
  )
).pipe(Layer.provide(MeteringStore.layer))

const layer = Metering.layerNoDeps.pipe(Layer.provide(Layer.mergeAll(losing, replica, NodeCrypto.layer)))

onEveryDatabase("A flush whose outcome is lost", (it) => {
  it.layer(layer)("in money", (it) => {
    /** What becomes of it when the next `times` outcomes are lost. */
    const losingNext = <A, E>(times: number, effect: Effect.Effect<A, E>) =>
      Effect.gen(function* () {
        Object.assign(wire, { toLose: times, lost: false })
        const fiber = yield* Effect.forkChild(Effect.exit(effect))
        while (fiber.pollUnsafe() === undefined) {
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
          // Time passes between two flushes alone: a statement has its bounds too.
          if (wire.lost && !wire.busy) yield* TestClock.adjust("10 millis")
        }
        return yield* Fiber.join(fiber)
      })

    it.effect("is said once more, which holds and charges once", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const principal = yield* openWorkspace(21, 1_000n)
        const charge = { id: idOf.request(1), principal }
        expect(Exit.isSuccess(yield* losingNext(1, metering.reserve(charge, 600n)))).toBe(true)
        expect(yield* money(principal)).toMatchObject({ held: 600n, openHolds: 600n })
        const settlement = { ...charge, model: "m", requestId: "r", tokens: { prompt: 3, completion: 4 }, cost: 70n }
        expect(Exit.isSuccess(yield* losingNext(1, metering.settle(settlement)))).toBe(true)
        expect(yield* money(principal)).toEqual({
          balance: 930n,
          held: 0n,
          spent: 70n,
          usage: 1n,
          entries: 0n,
          openHolds: 0n
        })
      })
    )

    it.effect("is not said for ever: whoever asked is told that the database is away", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const principal = yield* openWorkspace(22, 1_000n)
        const exit = yield* losingNext(2, metering.reserve({ id: idOf.request(2), principal }, 600n))
        expect(Exit.isFailure(exit) && Exit.hasDies(exit)).toBe(true)
        // What is set aside for it all the same is handed back (HandBacks.test.ts).
        expect(yield* money(principal)).toMatchObject({ balance: 1_000n, usage: 0n })
      })
    )
  })
})
