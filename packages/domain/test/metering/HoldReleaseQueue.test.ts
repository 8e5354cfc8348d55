/** Holds of requests whose outcome is unknown: none stays open after the database answers, and committed charges stay. */
import { NodeCrypto } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import { BUSY_REQUESTS } from "@sluice/domain/metering/CreditBlock"
import type { Principal } from "@sluice/domain/access/Principal"
import { Metering } from "@sluice/domain/metering/Metering"
import { type Reservation } from "@sluice/domain/metering/Settlement"
import { MeteringStore } from "@sluice/domain/metering/MeteringStore"
import { Effect, Exit, Fiber, Layer } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { idOf, money, openWorkspace, replica } from "@sluice/testing/fixtures/Workspace"

/** Failures of a flush: the statement does not run, its answer is lost, or it loses a race against another one. */
const KINDS = ["away", "unheard", "beaten"] as const
type Kind = (typeof KINDS)[number]
let fault: Kind | undefined
const flushed: Array<Parameters<MeteringStore["Service"]["flush"]>> = []

const beaten = Effect.fail(
  new SqlError.SqlError({ reason: new SqlError.DeadlockError({ cause: new Error("a deadlock") }) })
)
const gone = Effect.fail(
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("the connection is lost") }) })
)

const faulty = Layer.effect(
  MeteringStore,
  Effect.map(MeteringStore, (store) =>
    MeteringStore.of({
      ...store,
      flush: (...args) =>
        Effect.suspend(() => {
          flushed.push(args)
          if (fault === undefined) return store.flush(...args)
          if (fault === "beaten") return beaten
          return fault === "away" ? gone : Effect.andThen(store.flush(...args), gone)
        })
    })
  )
).pipe(Layer.provide(MeteringStore.layer))

const layer = Metering.layerNoDeps.pipe(Layer.provide([faulty, replica, NodeCrypto.layer]))

const turn = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))
const play = (millis: number) => Effect.andThen(TestClock.adjust(millis), turn)

const settlement = (reservation: Reservation) => ({
  ...reservation,
  model: "m",
  requestId: `req-${reservation.id}`,
  tokens: { prompt: 3, completion: 4 },
  cost: 70n
})

/** Runs an effect, and lets time pass until it has ended. */
const played = <A, E>(what: Effect.Effect<A, E, Metering>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.exit(what), { startImmediately: true })
    while (fiber.pollUnsafe() === undefined) yield* play(10)
    return yield* Fiber.join(fiber)
  })

/** Runs an effect that meets the fault; the flush tries three times, half a moment apart. */
const meeting = <A, E>(kind: Kind, what: Effect.Effect<A, E, Metering>) =>
  Effect.suspend(() => {
    fault = kind
    return Effect.map(played(what), Exit.isFailure)
  })

/** Lets time pass, far from the expiry of holds, until no hold is open or one seems to stay open for ever. */
const atRest = Effect.fnUntraced(function* (principal: Principal) {
  for (let n = 0; n < 500 && (yield* money(principal)).held > 0n; n++) yield* play(500)
  // The statement has completed, but its sender may still wait: the next test would wait for it on a stopped clock.
  const { settle } = yield* Metering
  const nothing = settlement({ id: idOf.request(99), principal })
  yield* played(settle({ ...nothing, tokens: null, cost: 0n }))
  return yield* money(principal)
})

onEveryDatabase("Holds with an unknown outcome", (it) => {
  it.layer(layer)("are released", (it) => {
    it.effect("of a reservation that commits after its release", () =>
      Effect.gen(function* () {
        const { reserve } = yield* Metering
        const principal = yield* openWorkspace(30, 1_000n)
        flushed.length = 0
        expect(yield* meeting("away", reserve({ id: idOf.request(1), principal }, 100n))).toBe(true)
        fault = undefined
        for (let n = 0; n < 5; n++) yield* play(1_000)
        expect(flushed.map(([rows]) => rows.map(({ settle }) => settle))).toEqual([[false], [false], [false], [true]])
        // The statement whose connection was lost has waited for a lock until now.
        yield* Effect.flatMap(MeteringStore, (store) => store.flush(...flushed[0]!))
        expect((yield* money(principal)).held).toBe(100n)
        for (let n = 0; n < 45; n++) yield* play(1_000)
        expect(yield* money(principal)).toMatchObject({ balance: 1_000n, held: 0n, openHolds: 0n })
        // That was the last retry.
        const told = flushed.length
        for (let n = 0; n < 45; n++) yield* play(1_000)
        expect(flushed.length).toBe(told)
      }).pipe(Effect.provide(MeteringStore.layer))
    )

    for (const [at, kind] of KINDS.entries()) {
      const charged = kind === "unheard" ? 1n : 0n

      it.effect(`of a request alone (${kind})`, () =>
        Effect.gen(function* () {
          const { reserve, settle } = yield* Metering
          const principal = yield* openWorkspace(10 + at, 1_000n)
          const first = yield* reserve({ id: idOf.request(1), principal }, 100n)
          expect(yield* meeting(kind, settle(settlement(first)))).toBe(true)
          expect(yield* meeting(kind, reserve({ id: idOf.request(2), principal }, 100n))).toBe(true)
          if (kind !== "unheard") expect((yield* money(principal)).held).toBe(100n)
          // Their release is sent more than once.
          for (let n = 0; n < 5; n++) yield* play(1_000)
          fault = undefined
          expect(yield* atRest(principal)).toEqual({
            balance: 1_000n - 70n * charged,
            held: 0n,
            openHolds: 0n,
            spent: 70n * charged,
            usage: charged,
            entries: 0n
          })
        })
      )

      it.effect(`of many that share a block (${kind})`, () =>
        Effect.gen(function* () {
          const { reserve, settle } = yield* Metering
          const principal = yield* openWorkspace(20 + at, 1_000_000n)
          const reservations: Array<Reservation> = []
          for (let n = 0; n < 2 * BUSY_REQUESTS; n++) {
            reservations.push(yield* reserve({ id: idOf.request(100 + n), principal }, 100n))
            yield* turn
          }
          const shared = reservations.filter(({ lease }) => lease !== undefined)
          expect(shared.length).toBeGreaterThan(1)
          expect(yield* meeting(kind, settle(settlement(shared[0]!)))).toBe(true)
          fault = undefined
          const others = reservations.filter((one) => one !== shared[0])
          // The rest of the block stays for the requests that still use it.
          for (let n = 0; n < 5; n++) yield* play(1_000)
          yield* Effect.forEach(others, (one) => settle(settlement(one)), { concurrency: "unbounded" })
          const usage = BigInt(others.length) + charged
          expect(yield* atRest(principal)).toEqual({
            balance: 1_000_000n - 70n * usage,
            held: 0n,
            openHolds: 0n,
            spent: 70n * usage,
            usage,
            entries: 0n
          })
        })
      )
    }
  })
})
