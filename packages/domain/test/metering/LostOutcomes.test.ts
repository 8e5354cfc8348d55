/** Lost answers of committed statements: no caller is refused for one, and no charge is booked twice. */
import { NodeCrypto } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import { Metering } from "@sluice/domain/metering/Metering"
import { MeteringStore } from "@sluice/domain/metering/MeteringStore"
import { Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { onEveryDatabase, onPostgres } from "@sluice/testing/engines/Databases"
import { idOf, money, openWorkspace, replica } from "@sluice/testing/fixtures/Workspace"

/** The answers that replace outcomes of flushes, in order; whether one did, and whether a flush is running. */
const wire = { instead: new Array<SqlError.SqlError>(), lost: false, busy: false }
const broken = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("read ECONNRESET") }) })
const collided = new SqlError.SqlError({
  reason: new SqlError.UniqueViolation({ cause: new Error("duplicate key"), constraint: "holds_pkey" })
})

const losing = Layer.effect(
  MeteringStore,
  Effect.map(MeteringStore, (store) =>
    MeteringStore.of({
      ...store,
      flush: (...given) =>
        Effect.suspend(() => {
          wire.busy = true
          return Effect.flatMap(store.flush(...given), (outcomes) => {
            const instead = wire.instead.shift()
            Object.assign(wire, { busy: false, lost: instead !== undefined })
            return instead === undefined ? Effect.succeed(outcomes) : Effect.fail(instead)
          })
        })
    })
  )
).pipe(Layer.provide(MeteringStore.layer))

const layerOver = <R>(store: Layer.Layer<MeteringStore, never, R>) =>
  Metering.layerNoDeps.pipe(Layer.provide(Layer.mergeAll(store, replica, NodeCrypto.layer)))

onEveryDatabase("A flush whose outcome is lost", (it) => {
  it.layer(layerOver(losing))("in money", (it) => {
    /** The result of an effect whose flushes get the given answers. */
    const answering = <A, E>(instead: ReadonlyArray<SqlError.SqlError>, effect: Effect.Effect<A, E>) =>
      Effect.gen(function* () {
        Object.assign(wire, { instead: [...instead], lost: false })
        const fiber = yield* Effect.forkChild(Effect.exit(effect))
        while (fiber.pollUnsafe() === undefined) {
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
          // Time passes between flushes alone: a statement has its time limit too.
          if (wire.lost && !wire.busy) yield* TestClock.adjust("10 millis")
        }
        return yield* Fiber.join(fiber)
      })

    for (const [at, instead] of [[broken], [broken, broken], [broken, collided]].entries()) {
      const told = instead.map(({ reason }) => reason._tag).join(", ")
      it.effect(`is retried, which holds and charges once (${told})`, () =>
        Effect.gen(function* () {
          const metering = yield* Metering
          const principal = yield* openWorkspace(21 + at, 1_000n)
          const charge = { id: idOf.request(1), principal }
          expect(Exit.isSuccess(yield* answering(instead, metering.reserve(charge, 600n)))).toBe(true)
          expect(yield* money(principal)).toMatchObject({ held: 600n, openHolds: 600n })
          const settlement = { ...charge, model: "m", requestId: "r", tokens: { prompt: 3, completion: 4 }, cost: 70n }
          expect(Exit.isSuccess(yield* answering(instead, metering.settle(settlement)))).toBe(true)
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
    }

    it.effect("is retried a bounded number of times, and then reported as an unavailable database", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const principal = yield* openWorkspace(30, 1_000n)
        const exit = yield* answering(
          [broken, broken, broken],
          metering.reserve({ id: idOf.request(2), principal }, 600n)
        )
        expect(Exit.isFailure(exit) && Exit.hasDies(exit)).toBe(true)
        // Its hold is released all the same (HoldReleaseQueue.test.ts).
        expect(yield* money(principal)).toMatchObject({ balance: 1_000n, usage: 0n })
      })
    )
  })
})

/** The first flush loses its connection at once, and the database continues it. */
const overtaken = Layer.effect(
  MeteringStore,
  Effect.gen(function* () {
    const store = yield* MeteringStore
    let first = true
    return MeteringStore.of({
      ...store,
      flush: (...given) =>
        Effect.suspend(() => {
          if (!first) return store.flush(...given)
          first = false
          return Effect.andThen(Effect.forkDetach(store.flush(...given)), Effect.fail(broken))
        })
    })
  })
).pipe(Layer.provide(MeteringStore.layer))

onPostgres(
  "A flush that the database continues after its connection is lost",
  (it) => {
    it.effect("does not fail its concurrent retry", () =>
      Effect.gen(function* () {
        const { reserve } = yield* Metering
        const sql = yield* SqlClient.SqlClient
        const principal = yield* openWorkspace(31, 1_000n)
        const locked = Effect.andThen(sql`select id from accounts for update`, Effect.sleep("400 millis"))
        yield* Effect.forkChild(sql.withTransaction(locked), { startImmediately: true })
        yield* Effect.sleep("100 millis")
        // Both wait for the account: the second one sees nothing of the first, and conflicts with its row.
        yield* reserve({ id: idOf.request(1), principal }, 600n)
        expect(yield* money(principal)).toMatchObject({ balance: 1_000n, held: 600n, openHolds: 600n })
      }).pipe(Effect.provide(layerOver(overtaken)))
    )
  },
  { live: true }
)
