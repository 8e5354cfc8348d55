/** Charges of inference on both stores: one statement decides as a sequence of single requests would. */
import { NodeCrypto } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import { REVENUE_ACCOUNT, WRITE_OFF_ACCOUNT } from "@sluice/domain/billing/Ledger"
import { HoldSweep } from "@sluice/domain/metering/HoldSweep"
import { HOLD_EXPIRES_MS, Metering } from "@sluice/domain/metering/Metering"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { idOf, money, openWorkspace, replica, setBudget } from "@sluice/testing/fixtures/Workspace"

const layer = Layer.merge(Metering.layer, HoldSweep.layer).pipe(Layer.provide(Layer.merge(replica, NodeCrypto.layer)))

onEveryDatabase("Metering", (it) => {
  const settlement = (
    charge: { readonly id: string; readonly principal: ReturnType<typeof idOf.principal> },
    cost: bigint
  ) => ({
    ...charge,
    model: "m",
    requestId: `req-${charge.id}`,
    tokens: { prompt: 3, completion: 4 },
    cost
  })

  it.layer(layer)("in money", (it) => {
    it.effect("200 requests at once on a balance for 3 admit 3, and settle once", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const principal = yield* openWorkspace(1, 300n)
        const charges = Array.from({ length: 200 }, (_, n) => ({ id: idOf.request(n), principal }))
        const exits = yield* Effect.forEach(charges, (charge) => Effect.exit(metering.reserve(charge, 100n)), {
          concurrency: "unbounded"
        })
        const admitted = charges.filter((_, n) => Exit.isSuccess(exits[n]!))
        expect(admitted).toHaveLength(3)
        expect(yield* money(principal)).toMatchObject({ balance: 300n, held: 300n })
        // Each is settled three times at once: the hold is the guard.
        yield* Effect.forEach(
          [...admitted, ...admitted, ...admitted],
          (charge) => metering.settle(settlement(charge, 70n)),
          { concurrency: "unbounded" }
        )
        expect(yield* money(principal)).toEqual({
          balance: 90n,
          held: 0n,
          spent: 210n,
          usage: 3n,
          entries: 0n,
          openHolds: 0n
        })
      })
    )

    it.effect("books a charge with both entries, its balance and the request", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const metering = yield* Metering
        const principal = yield* openWorkspace(2, 1_000n)
        const charge = { id: idOf.request(1), principal }
        yield* metering.reserve(charge, 500n)
        yield* metering.settle(settlement(charge, 120n))
        expect(yield* sql`select account_id, amount, balance_after from entries order by seq offset 2`).toEqual([
          { account_id: principal.workspaceId, amount: -120n, balance_after: 880n },
          { account_id: REVENUE_ACCOUNT, amount: 120n, balance_after: null }
        ])
        const [txn] =
          yield* sql`select id, kind, description, resource_type, resource_id from txns where kind = 'inference'`
        expect(txn).toEqual({
          id: charge.id,
          kind: "inference",
          description: "Chat with m",
          resource_type: "request",
          resource_id: `req-${charge.id}`
        })
        expect(yield* sql`select model, tokens_in, tokens_out, cost from usage`).toEqual([
          { model: "m", tokens_in: 3, tokens_out: 4, cost: 120n }
        ])
      })
    )

    it.effect("a free request works, is counted, and books nothing", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const principal = yield* openWorkspace(3, 0n)
        const charge = { id: idOf.request(1), principal }
        yield* metering.reserve(charge, 0n)
        yield* metering.settle(settlement(charge, 0n))
        expect(yield* money(principal)).toEqual({
          balance: 0n,
          held: 0n,
          spent: 0n,
          usage: 1n,
          entries: 0n,
          openHolds: 0n
        })
        expect(yield* Effect.flip(metering.reserve({ id: idOf.request(2), principal }, 1n))).toMatchObject({
          _tag: "CreditInsufficient",
          required: 1n,
          available: 0n
        })
      })
    )

    it.effect("a cost above the hold takes the free balance, or is borne by the operator", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const metering = yield* Metering
        const principal = yield* openWorkspace(4, 100n)
        const first = { id: idOf.request(1), principal }
        const second = { id: idOf.request(2), principal }
        yield* metering.reserve(first, 40n)
        yield* metering.reserve(second, 40n)
        yield* metering.settle(settlement(first, 55n))
        expect(yield* money(principal)).toMatchObject({ balance: 45n, held: 40n, entries: 0n })
        yield* metering.settle(settlement(second, 55n))
        expect(yield* money(principal)).toMatchObject({ balance: 5n, held: 0n, spent: 95n, entries: 0n })
        expect(yield* sql`select account_id, amount from entries where txn_id = ${second.id} order by seq`).toEqual([
          { account_id: principal.workspaceId, amount: -40n },
          { account_id: REVENUE_ACCOUNT, amount: 55n },
          { account_id: WRITE_OFF_ACCOUNT, amount: -15n }
        ])
      })
    )

    it.effect("refuses when the month's budget is spent, and admits again in the next month", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const metering = yield* Metering
        yield* TestClock.setTime(Date.UTC(2026, 1, 28, 23, 59, 59))
        const principal = yield* openWorkspace(5, 1_000n)
        yield* setBudget(principal, 50n)
        const first = { id: idOf.request(1), principal }
        yield* metering.reserve(first, 60n)
        yield* sql`update environments set wake_at = ${new Date(Date.UTC(2026, 2, 1))} where id = ${principal.environmentId}`
        yield* metering.settle(settlement(first, 50n))
        // Jobs may spend less now: their rows are due at once.
        expect(yield* sql`select events, wake_at from environments where id = ${principal.environmentId}`).toEqual([
          { events: 1n, wake_at: new Date(Date.UTC(2026, 1, 28, 23, 59, 59)) }
        ])
        const refused = yield* Effect.flip(metering.reserve({ id: idOf.request(2), principal }, 1n))
        expect(refused).toMatchObject({ _tag: "BudgetReached", environmentName: "default" })
        yield* TestClock.adjust("1 second")
        const third = { id: idOf.request(3), principal }
        yield* metering.reserve(third, 10n)
        yield* metering.settle(settlement(third, 7n))
        expect(yield* money(principal)).toMatchObject({ spent: 7n, balance: 943n })
      })
    )

    it.effect("charges an admitted request, also when the budget is reached by then", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const principal = yield* openWorkspace(17, 1_000n)
        yield* setBudget(principal, 50n)
        const charges = [1, 2].map((n) => ({ id: idOf.request(n), principal }))
        yield* Effect.forEach(charges, (charge) => metering.reserve(charge, 20n))
        yield* metering.settle(settlement(charges[0]!, 60n))
        expect(yield* money(principal)).toMatchObject({ spent: 60n, held: 20n })
        yield* metering.settle(settlement(charges[1]!, 15n))
        expect(yield* money(principal)).toMatchObject({ balance: 925n, spent: 75n, held: 0n, usage: 2n })
      })
    )

    it.effect("200 requests at once on a budget for 3 admit 3; one alone may exceed it by less than its price", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const principal = yield* openWorkspace(16, 1_000_000n)
        yield* setBudget(principal, 350n)
        const charges = Array.from({ length: 200 }, (_, n) => ({ id: idOf.request(n), principal }))
        const exits = yield* Effect.forEach(charges, (charge) => Effect.exit(metering.reserve(charge, 100n)), {
          concurrency: "unbounded"
        })
        const admitted = charges.filter((_, n) => Exit.isSuccess(exits[n]!))
        expect(admitted).toHaveLength(3)
        yield* Effect.forEach(admitted, (charge) => metering.settle(settlement(charge, 100n)))
        const last = { id: idOf.request(901), principal }
        yield* metering.reserve(last, 100n)
        const beside = yield* Effect.flip(metering.reserve({ id: idOf.request(902), principal }, 1n))
        expect(beside._tag).toBe("BudgetReached")
        yield* metering.settle(settlement(last, 40n))
        yield* metering.reserve({ id: idOf.request(903), principal }, 100n)
        expect(yield* money(principal)).toMatchObject({ spent: 340n, held: 100n })
      })
    )

    it.effect("releases a dead server's hold after its expiry", () =>
      Effect.gen(function* () {
        const metering = yield* Metering
        const { sweep } = yield* HoldSweep
        const principal = yield* openWorkspace(6, 100n)
        const charge = { id: idOf.request(1), principal }
        yield* metering.reserve(charge, 80n)
        yield* TestClock.adjust(HOLD_EXPIRES_MS - 1)
        expect(yield* sweep).toBe(0)
        yield* TestClock.adjust(1)
        expect(yield* sweep).toBe(1)
        expect(yield* money(principal)).toMatchObject({ balance: 100n, held: 0n, openHolds: 0n })
        // The late answer charges nothing.
        yield* metering.settle(settlement(charge, 5n))
        expect(yield* money(principal)).toMatchObject({ balance: 100n, held: 0n, usage: 0n })
        yield* TestClock.adjust("2 days")
        expect(yield* sweep).toBe(1)
      })
    )
  })
})
