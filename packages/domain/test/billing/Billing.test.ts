/** Billing as a workspace sees it: its own money alone, to the nano-USD and the millisecond (decisions: Billing). */
import { expect } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import type { Principal } from "@sluice/domain/access/Principal"
import { Billing } from "@sluice/domain/billing/Billing"
import { LedgerStore } from "@sluice/domain/billing/LedgerStore"
import { Replica } from "@sluice/domain/database/Replica"
import { JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { Crypto, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { auditBooks, makeTenant } from "@sluice/testing/fixtures/Tenants"
import { jobDraft } from "../jobs/support/Drafts.ts"

const T0 = Date.UTC(2027, 2, 15, 12)
const HOUR = 3_600_000

const TestLayer = Layer.mergeAll(
  Billing.layer.pipe(Layer.provideMerge(LedgerStore.layer)),
  JobAdmissionStore.layer
).pipe(Layer.provide(Replica.layer({ speed: 1 })), Layer.provideMerge(NodeServices.layer))

/** A job whose machine ran from `since` on, until `until` where that is given. */
const machine = Effect.fnUntraced(function* (tenant: Principal, price: bigint, since: number, until: number | null) {
  const sql = yield* PgClient.PgClient
  const draft = yield* jobDraft(tenant, { price, hold: 10n })
  yield* (yield* JobAdmissionStore).admit(draft)
  yield* sql.unsafe(`update machines set running_at = $2, stopped_at = $3, status = $4 where id = $1`, [
    draft.machineId,
    new Date(since),
    until === null ? null : new Date(until),
    until === null ? "running" : "stopped"
  ])
})

onEveryDatabase("Billing", (it) => {
  it.effect("shows the running cost, and the time at which it uses up the balance", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const billing = yield* Billing
      const tenant = yield* makeTenant({ credit: 100_000_000n })
      const still = { balance: 100_000_000n, accruingPerHour: 0n, runsOutAt: null }
      yield* machine(tenant, 50_000_000n, T0 - 3 * HOUR, T0 - HOUR)
      yield* machine(yield* makeTenant(), 70_000_000n, T0 - HOUR, null)
      expect(yield* billing.balance(tenant)).toEqual({ ...still, held: 10n })
      yield* machine(tenant, 6_000_000n, T0 - 2 * HOUR, null)
      yield* machine(tenant, 4_000_000n, T0 - HOUR, null)
      // 16 of the 100 have accrued, 84 are left for 10 an hour.
      expect(yield* billing.balance(tenant)).toEqual({
        balance: 100_000_000n,
        held: 30n,
        accruingPerHour: 10_000_000n,
        runsOutAt: new Date(T0 + 8.4 * HOUR)
      })
      yield* TestClock.adjust("9 hours")
      expect((yield* billing.balance(tenant)).runsOutAt).toEqual(new Date(T0 + 9 * HOUR))
      // An end beyond the range of dates is shown as a date all the same.
      const rich = yield* makeTenant({ credit: 9_000_000_000_000_000_000n })
      yield* machine(rich, 1n, T0, null)
      expect((yield* billing.balance(rich)).runsOutAt?.getUTCFullYear()).toBe(3027)
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("shows the free balance, and the rest of each budget in the caller's workspace", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const ledger = yield* LedgerStore
      const sql = yield* PgClient.PgClient
      const tenant = yield* makeTenant({ credit: 100n, budget: 50n })
      yield* machine(tenant, 1n, T0, null)
      const funds = { available: 90n, budgetReached: false, budgetRemaining: 50n }
      expect(yield* ledger.funds(tenant)).toEqual(funds)
      yield* sql.unsafe(`update environments set month_spent = 60`)
      expect(yield* ledger.funds(tenant)).toEqual({ ...funds, budgetReached: true, budgetRemaining: 0n })
      const stranger = yield* makeTenant()
      const between = { ...stranger, environmentId: tenant.environmentId }
      expect(yield* ledger.funds(between)).toEqual({ available: 0n, budgetReached: true, budgetRemaining: null })
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect(
    "credits a reference once per workspace, and lists it to that workspace alone, newest first, in pages",
    () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const [one, other] = [yield* makeTenant({ credit: 0n }), yield* makeTenant({ credit: 0n })]
        for (const [tenant, amount, reference] of [
          [one, 7n, "a"],
          [other, 8n, "a"],
          [one, 9n, "b"],
          [one, 7n, "a"],
          [one, 10n, "c"]
        ] as const) {
          yield* billing.credit(tenant.workspaceId, amount, reference)
        }
        expect(yield* billing.balance(one)).toMatchObject({ balance: 26n, held: 0n })
        expect((yield* billing.balance(other)).balance).toBe(8n)
        expect(yield* auditBooks).toEqual([])
        const page = (after?: string) => billing.transactions(one, { limit: 2, after })
        const first = yield* page()
        expect(first.items).toMatchObject([
          { kind: "credit", amount: 10n, balanceAfter: 26n, resourceId: "c" },
          { amount: 9n, balanceAfter: 16n }
        ])
        expect([first.total, first.next]).toEqual([3, first.items[1]!.id])
        expect(yield* page(first.next)).toMatchObject({
          items: [{ amount: 7n, balanceAfter: 7n }],
          total: 3,
          next: undefined
        })
      }).pipe(Effect.provide(TestLayer))
  )

  it.effect("reports an earlier credit for the same reference", () =>
    Effect.gen(function* () {
      const ledger = yield* LedgerStore
      const [one, other] = [yield* makeTenant({ credit: 0n }), yield* makeTenant({ credit: 0n })]
      expect(yield* ledger.credit(other.workspaceId, 8n, "a")).toBe(undefined)
      expect(yield* ledger.credit(one.workspaceId, 7n, "a")).toBe(undefined)
      expect(yield* ledger.credit(one.workspaceId, 9n, "a")).toBe(7n)
      expect((yield* ledger.balance(one.workspaceId)).balance).toBe(7n)
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("sums up the requests of whole UTC days, both included", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const sql = yield* PgClient.PgClient
      const { randomUUIDv7 } = yield* Crypto.Crypto
      const [one, other] = [yield* makeTenant(), yield* makeTenant()]
      const use = Effect.fnUntraced(function* (tenant: Principal, at: string, cost: bigint) {
        yield* sql.unsafe(
          `insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at)
             values ($1, $2, $3, $4, 'm', 3, 4, $5::int8, $6)`,
          [yield* randomUUIDv7(), tenant.workspaceId, tenant.environmentId, tenant.keyId, cost, new Date(at)]
        )
      })
      yield* use(one, "2027-03-09T23:59:59.999Z", 1n)
      yield* use(one, "2027-03-10T00:00:00.000Z", 10n)
      yield* use(one, "2027-03-11T23:59:59.999Z", 100n)
      yield* use(one, "2027-03-12T00:00:00.000Z", 1_000n)
      yield* use(other, "2027-03-10T12:00:00.000Z", 10_000n)
      const sum = { requests: 2, promptTokens: 6, completionTokens: 8, cost: 110n }
      expect(yield* billing.usage(one, "2027-03-10", "2027-03-11")).toEqual(sum)
      const none = { requests: 0, promptTokens: 0, completionTokens: 0, cost: 0n }
      expect(yield* billing.usage(one, "2027-03-13", "2027-03-13")).toEqual(none)
    }).pipe(Effect.provide(TestLayer))
  )
})
