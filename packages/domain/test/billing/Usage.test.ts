/** The breakdown of usage: in any grouping and paging, the groups add up to the total. */
import { expect } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import type { Principal } from "@sluice/domain/access/Principal"
import { Billing } from "@sluice/domain/billing/Billing"
import { type UsageBy, type UsageGroup } from "@sluice/domain/billing/Usage"
import { LedgerStore } from "@sluice/domain/billing/LedgerStore"
import { Crypto, Effect, Layer } from "effect"
import fc from "fast-check"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { makeTenant } from "@sluice/testing/fixtures/Tenants"

const TestLayer = Billing.layer.pipe(Layer.provideMerge(LedgerStore.layer), Layer.provideMerge(NodeServices.layer))

interface Used {
  readonly model: string
  readonly key: string
  readonly at: string
  readonly cost: bigint
}

const insert = Effect.fnUntraced(function* (tenant: Principal, { at, cost, key, model }: Used) {
  const sql = yield* PgClient.PgClient
  yield* sql.unsafe(
    `insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at)
       values ($1, $2, $3, $4, $5, 3, 4, $6::int8, $7)`,
    [
      yield* (yield* Crypto.Crypto).randomUUIDv7(),
      tenant.workspaceId,
      tenant.environmentId,
      key,
      model,
      cost,
      new Date(at)
    ]
  )
})

const all = Effect.fnUntraced(function* (tenant: Principal, by: UsageBy, from: string, to: string, limit: number) {
  const billing = yield* Billing
  const items: Array<UsageGroup> = []
  const totals = new Set<number>()
  let after: string | undefined
  do {
    const page = yield* billing.breakdown(tenant, by, from, to, { limit, after })
    expect(page.items.length).toBeLessThanOrEqual(limit)
    items.push(...page.items)
    totals.add(page.total)
    after = page.next
  } while (after !== undefined)
  expect([...totals]).toEqual([items.length])
  return items
})

const DAYS = ["2027-03-09T23:59:59.999Z", "2027-03-10T00:00:00Z", "2027-03-10T12:00:00Z", "2027-03-12T23:59:59.999Z"]
const GONE = "00000000-0000-7000-8000-000000000001"

onEveryDatabase("The breakdown of usage", (it) => {
  it.effect("has every request once, in the order of its groups, for any shared fields", () =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const [tenant, other] = [yield* makeTenant(), yield* makeTenant()]
      const used = fc.record({
        model: fc.constantFrom("b/model", "a", "Z", "ä"),
        key: fc.constantFrom(tenant.keyId, GONE),
        at: fc.constantFrom(...DAYS, "2027-03-13T00:00:00Z"),
        cost: fc.bigInt(0n, 1_000_000_000_000n)
      })
      const rows = fc.sample(fc.array(used, { minLength: 40, maxLength: 40 }), { seed: 7, numRuns: 1 })[0]!
      for (const row of rows) yield* insert(tenant, row)
      yield* insert(other, rows[0]!)
      const counted = rows.filter(({ at }) => at >= "2027-03-10" && at < "2027-03-13")
      const expected = (groupOf: (row: Used) => string) => {
        const groups = new Map<string, bigint>()
        for (const row of counted) groups.set(groupOf(row), (groups.get(groupOf(row)) ?? 0n) + row.cost)
        return [...groups].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }
      const [from, to] = ["2027-03-10", "2027-03-12"]
      const costs = (groups: ReadonlyArray<UsageGroup>) => groups.map(({ cost, id }) => [id, cost])
      for (const limit of [1, 2, 100]) {
        expect(costs(yield* all(tenant, "model", from, to, limit))).toEqual(expected(({ model }) => model))
        expect(costs(yield* all(tenant, "key", from, to, limit))).toEqual(expected(({ key }) => key))
        expect(costs(yield* all(tenant, "day", from, to, limit))).toEqual(
          expected(({ at }) => at.slice(0, 10)).toReversed()
        )
        expect(costs(yield* all(tenant, "environment", from, to, limit))).toEqual(expected(() => tenant.environmentId))
      }
      const sum = yield* billing.usage(tenant, from, to)
      for (const by of ["day", "model", "key", "environment"] as const) {
        const groups = yield* all(tenant, by, from, to, 100)
        const total = (of: (group: UsageGroup) => number | bigint) =>
          groups.reduce((left, group) => left + BigInt(of(group)), 0n)
        expect([by, total(({ cost }) => cost)]).toEqual([by, sum.cost])
        expect([by, Number(total(({ requests }) => requests))]).toEqual([by, sum.requests])
        expect([by, Number(total(({ promptTokens }) => promptTokens))]).toEqual([by, sum.promptTokens])
        expect([by, Number(total(({ completionTokens }) => completionTokens))]).toEqual([by, sum.completionTokens])
      }
      expect(yield* all(tenant, "day", "2027-04-01", "2027-04-30", 10)).toEqual([])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("has the days of UTC, in any time zone of the database", () =>
    Effect.gen(function* () {
      const tenant = yield* makeTenant()
      const sql = yield* PgClient.PgClient
      for (const at of DAYS) yield* insert(tenant, { model: "m", key: GONE, at, cost: 1n })
      for (const zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
        const days = Effect.andThen(
          sql.unsafe(`set local time zone '${zone}'`),
          all(tenant, "day", "2027-03-09", "2027-03-12", 10)
        )
        const groups = yield* sql.withTransaction(days)
        expect(groups.map(({ id, requests }) => [zone, id, requests])).toEqual([
          [zone, "2027-03-12", 1],
          [zone, "2027-03-10", 2],
          [zone, "2027-03-09", 1]
        ])
      }
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("names keys and environments that still exist", () =>
    Effect.gen(function* () {
      const tenant = yield* makeTenant()
      const sql = yield* PgClient.PgClient
      yield* sql.unsafe(
        `insert into api_keys (id, workspace_id, name, prefix, hash, status, rate_limit_rpm, created_at)
           values ($1, $2, 'mine', 'p', $3, 'active', 60, now())`,
        [tenant.keyId, tenant.workspaceId, Buffer.from(tenant.keyId)]
      )
      const row = { model: "m", at: "2027-03-10T00:00:00Z", cost: 1n }
      yield* insert(tenant, { ...row, key: tenant.keyId })
      yield* insert(tenant, { ...row, key: GONE })
      const named = (by: UsageBy) =>
        Effect.map(all(tenant, by, "2027-03-10", "2027-03-10", 10), (groups) =>
          groups.map(({ id, name }) => [id, name])
        )
      expect(yield* named("key")).toEqual([
        [GONE, null],
        [tenant.keyId, "mine"]
      ])
      expect(yield* named("environment")).toEqual([[tenant.environmentId, "default"]])
      expect(yield* named("model")).toEqual([["m", null]])
    }).pipe(Effect.provide(TestLayer))
  )
})
