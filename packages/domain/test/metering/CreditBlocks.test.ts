/** Credit blocks over both stores: requests that share a hold have the same ledger entries as requests with their own. */
import { NodeCrypto } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import type { Principal } from "@sluice/domain/access/Principal"
import { BLOCK_REQUESTS, BUSY_REQUESTS, IDLE_MS } from "@sluice/domain/metering/CreditBlock"
import { HoldSweep } from "@sluice/domain/metering/HoldSweep"
import { HOLD_EXPIRES_MS, Metering } from "@sluice/domain/metering/Metering"
import { type Reservation } from "@sluice/domain/metering/Settlement"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { idOf, money, moneyAtRest, openWorkspace, replica, setBudget } from "@sluice/testing/fixtures/Workspace"

const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

const layer = Layer.merge(Metering.layer, HoldSweep.layer).pipe(Layer.provide(Layer.merge(replica, NodeCrypto.layer)))

onEveryDatabase("Credit blocks", (it) => {
  const settlement = (reservation: Reservation, cost: bigint) => ({
    ...reservation,
    model: "m",
    requestId: `req-${reservation.id}`,
    tokens: { prompt: 3, completion: 4 },
    cost
  })

  it.layer(layer)("in money", (it) => {
    /** Reserves one after the other at one moment, so that a block is opened. */
    const busy = Effect.fn(function* (principal: Principal, first: number, amount: bigint) {
      const metering = yield* Metering
      const reservations: Array<Reservation> = []
      for (let n = 0; n < 2 * BUSY_REQUESTS; n++) {
        reservations.push(yield* metering.reserve({ id: idOf.request(first + n), principal }, amount))
        // A block is opened beside the requests.
        for (let n = 0; n < 20; n++) yield* turn
      }
      return reservations
    })
    const settled = (reservations: ReadonlyArray<Reservation>, cost: bigint) =>
      Effect.flatMap(Metering, ({ settle }) =>
        Effect.forEach(reservations, (reservation) => settle(settlement(reservation, cost)), {
          concurrency: "unbounded"
        })
      )
    const inBlocks = (reservations: ReadonlyArray<Reservation>) =>
      reservations.filter(({ lease }) => lease !== undefined)

    it.effect("concurrent requests lease from a block, are charged each, and a pause releases the rest", () =>
      Effect.gen(function* () {
        const principal = yield* openWorkspace(7, 1_000_000n)
        const reservations = yield* busy(principal, 0, 100n)
        expect(inBlocks(reservations).length).toBeGreaterThan(0)
        expect(inBlocks(reservations).length).toBeLessThan(reservations.length)
        const alone = BigInt(reservations.length - inBlocks(reservations).length)
        const block = 100n * BLOCK_REQUESTS
        expect(yield* money(principal)).toMatchObject({
          balance: 1_000_000n,
          held: alone * 100n + block,
          openHolds: alone * 100n + block
        })
        yield* settled(reservations, 70n)
        const spent = 70n * BigInt(reservations.length)
        const left = block - 70n * BigInt(inBlocks(reservations).length)
        expect(yield* money(principal)).toMatchObject({
          balance: 1_000_000n - spent,
          spent,
          held: left,
          openHolds: left,
          usage: BigInt(reservations.length),
          entries: 0n
        })
        // A repeated charge is one charge.
        yield* settled([inBlocks(reservations)[0]!], 70n)
        yield* TestClock.adjust(2 * IDLE_MS)
        expect(yield* moneyAtRest(principal)).toMatchObject({
          balance: 1_000_000n - spent,
          spent,
          held: 0n,
          openHolds: 0n
        })
      })
    )

    it.effect("a lease without a delivered answer costs nothing", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const principal = yield* openWorkspace(8, 1_000_000n)
        const reservations = yield* busy(principal, 0, 100n)
        yield* Effect.forEach(reservations, (reservation) =>
          metering.settle({ ...settlement(reservation, 0n), tokens: null })
        )
        yield* TestClock.adjust(2 * IDLE_MS)
        expect(yield* moneyAtRest(principal)).toMatchObject({
          balance: 1_000_000n,
          spent: 0n,
          usage: 0n,
          openHolds: 0n
        })
      })
    )

    it.effect("a free request leases from a block as well", () =>
      Effect.gen(function* () {
        const principal = yield* openWorkspace(13, 0n)
        const reservations = yield* busy(principal, 0, 0n)
        expect(inBlocks(reservations).length).toBeGreaterThan(0)
        yield* settled(reservations, 0n)
        yield* TestClock.adjust(2 * IDLE_MS)
        expect(yield* money(principal)).toMatchObject({ balance: 0n, held: 0n, usage: BigInt(reservations.length) })
      })
    )

    it.effect("a block never pays more than the lease", () =>
      Effect.gen(function* () {
        const principal = yield* openWorkspace(9, 1_000_000n)
        const reservations = inBlocks(yield* busy(principal, 0, 100n))
        yield* settled(reservations, 130n)
        expect(yield* money(principal)).toMatchObject({ spent: 100n * BigInt(reservations.length), entries: 0n })
      })
    )

    it.effect("a request that needs nearly the whole balance gets the money of an idle block", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const principal = yield* openWorkspace(10, 1_000_000n)
        yield* settled(yield* busy(principal, 0, 100n), 0n)
        expect(yield* money(principal)).toMatchObject({ held: 100n * BLOCK_REQUESTS })
        yield* metering.reserve({ id: idOf.request(99), principal }, 1_000_000n)
        expect(yield* money(principal)).toMatchObject({ held: 1_000_000n })
      })
    )

    it.effect("a reached budget refuses leases from a block too", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const principal = yield* openWorkspace(11, 1_000_000n)
        yield* setBudget(principal, 110_000n)
        const reservations = yield* busy(principal, 0, 100n)
        expect(inBlocks(reservations).length).toBeGreaterThan(0)
        yield* setBudget(principal, 1_000n)
        yield* settled(reservations.slice(0, -1), 70n)
        // Its own charge is the last that fits; the books show the reached budget at the next one.
        yield* settled(reservations.slice(-1), 70n)
        const refused = yield* Effect.flip(metering.reserve({ id: idOf.request(99), principal }, 100n))
        expect(refused._tag).toBe("BudgetReached")
      })
    )

    it.effect("a budget that is lowered below a block counts before the block is spent", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const principal = yield* openWorkspace(15, 1_000_000n)
        const reservations = yield* busy(principal, 0, 100n)
        yield* setBudget(principal, 2_000n)
        yield* settled(reservations.slice(0, 1), 1n)
        const refused = yield* Effect.flip(metering.reserve({ id: idOf.request(99), principal }, 100n))
        expect(refused._tag).toBe("BudgetReached")
        // After the end of its requests, the block no longer counts against the budget.
        yield* settled(reservations.slice(1), 1n)
        yield* metering.reserve({ id: idOf.request(98), principal }, 100n)
      })
    )

    it.effect("no block takes more than a part of the budget", () =>
      Effect.gen(function* () {
        const principal = yield* openWorkspace(12, 1_000_000n)
        yield* setBudget(principal, 100_000n)
        expect(inBlocks(yield* busy(principal, 0, 100n))).toEqual([])
      })
    )

    it.effect("a block that exceeds the budget is not opened", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const principal = yield* openWorkspace(17, 1_000_000n)
        yield* setBudget(principal, 1_000_000n)
        for (let n = 1; n < BUSY_REQUESTS; n++) {
          const reservation = yield* metering.reserve({ id: idOf.request(n), principal }, 100n)
          yield* metering.settle(settlement(reservation, 0n))
        }
        // On another replica: this one still has the old budget in memory.
        yield* setBudget(principal, 2_000n)
        const reservations = yield* busy(principal, 50, 100n)
        expect(inBlocks(reservations)).toEqual([])
        expect(yield* money(principal)).toMatchObject({ held: 100n * BigInt(reservations.length) })
      })
    )

    it.effect("a replaced block is released with the last of its requests", () =>
      Effect.gen(function* () {
        const principal = yield* openWorkspace(18, 1_000_000n)
        const reservations: Array<Reservation> = []
        const blocks = () => [...new Set(inBlocks(reservations).map(({ lease }) => lease!.block))]
        while (blocks().length < 2) reservations.push(...(yield* busy(principal, reservations.length, 100n)))
        const long = reservations.filter(({ lease }) => lease?.block === blocks()[0])
        yield* settled(
          reservations.filter((one) => !long.includes(one)),
          70n
        )
        yield* settled(long.slice(1), 70n)
        yield* TestClock.adjust(2 * IDLE_MS)
        const left = 100n * BLOCK_REQUESTS - 70n * BigInt(long.length - 1)
        expect(yield* moneyAtRest(principal, left)).toMatchObject({ held: left })
        yield* settled(long.slice(0, 1), 70n)
        expect(yield* moneyAtRest(principal)).toMatchObject({ held: 0n, openHolds: 0n })
      })
    )

    it.effect("a block pays for no more than it holds, for any number of requests", () =>
      Effect.gen(function* () {
        const principal = yield* openWorkspace(20, 1_000_000n)
        const count = 2 * Number(BLOCK_REQUESTS)
        for (let n = 0; n < count; n += 2 * BUSY_REQUESTS) yield* settled(yield* busy(principal, n, 100n), 100n)
        const spent = 100n * BigInt(count)
        yield* TestClock.adjust(2 * IDLE_MS)
        expect(yield* moneyAtRest(principal)).toMatchObject({ balance: 1_000_000n - spent, spent, openHolds: 0n })
      })
    )

    it.effect("a server that stops releases its unused blocks", () =>
      Effect.gen(function* () {
        const principal = yield* openWorkspace(19, 1_000_000n)
        const reservations = yield* Effect.scoped(
          Effect.flatMap(Layer.build(Layer.fresh(layer)), (ending) =>
            Effect.provide(
              Effect.tap(busy(principal, 0, 100n), (all) => settled(all, 70n)),
              ending
            )
          )
        )
        expect(inBlocks(reservations).length).toBeGreaterThan(0)
        expect(yield* money(principal)).toMatchObject({ held: 0n, openHolds: 0n })
      })
    )

    it.effect("a dead server's block is released, and its late charges with it", () =>
      Effect.gen(function* () {
        const { sweep } = yield* HoldSweep
        const principal = yield* openWorkspace(14, 1_000_000n)
        const reservations = yield* busy(principal, 0, 100n)
        yield* TestClock.adjust(HOLD_EXPIRES_MS)
        yield* sweep
        expect(yield* money(principal)).toMatchObject({ balance: 1_000_000n, held: 0n, openHolds: 0n })
        yield* settled(reservations, 70n)
        expect(yield* money(principal)).toMatchObject({ balance: 1_000_000n, held: 0n, usage: 0n })
      })
    )
  })
})
