/**
 * Monthly budgets: the amounts that count, the moment at which a budget is reached, and the jobs that then stop
 * (decisions: Jobs, budget).
 */
import { describe, expect, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import type { Principal } from "@sluice/domain/access/Principal"
import { reachedAt } from "@sluice/domain/billing/BudgetReconciler"
import { BudgetStore } from "@sluice/domain/billing/BudgetStore"
import { LedgerStore } from "@sluice/domain/billing/LedgerStore"
import { monthOf } from "@sluice/domain/billing/Month"
import { Replica } from "@sluice/domain/database/Replica"
import { JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { JobStore } from "@sluice/domain/jobs/JobStore"
import { Crypto, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { makeTenant } from "@sluice/testing/fixtures/Tenants"
import { jobDraft } from "../jobs/support/Drafts.ts"

const MONTH = Date.UTC(2027, 2, 1)
const NOW = MONTH + 3_600_000
const BUDGET = 1_000_000n

describe("A budget", () => {
  /** 3,600,000 an hour are 1 a millisecond. */
  const machine = (since: number) => ({ price: 3_600_000n, since })
  it("is reached when spending and accrued costs add up to it", () => {
    const budget = { budget: 100n, spent: 40n }
    expect(reachedAt({ ...budget, running: [] }, 1_000)).toBe(Number.POSITIVE_INFINITY)
    expect(reachedAt({ ...budget, running: [machine(990)] }, 1_000)).toBe(1_050)
    expect(reachedAt({ ...budget, running: [machine(990), machine(980)] }, 1_000)).toBe(1_015)
    expect(reachedAt({ ...budget, running: [machine(940)] }, 1_000)).toBe(1_000)
    expect(reachedAt({ ...budget, running: [machine(941)] }, 1_000)).toBe(1_001)
    expect(reachedAt({ ...budget, spent: 100n, running: [] }, 1_000)).toBe(1_000)
    // Another replica's clock is ahead of this one.
    expect(reachedAt({ ...budget, running: [machine(1_010)] }, 1_000)).toBe(1_060)
  })
})

const TestLayer = Layer.mergeAll(BudgetStore.layer, JobAdmissionStore.layer, JobStore.layer, LedgerStore.layer).pipe(
  Layer.provide(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)

/** Two environments of one workspace, and jobs that may run in them. */
const setUp = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* TestClock.setTime(NOW)
  const tenant = yield* makeTenant({ budget: BUDGET })
  const other = { ...tenant, environmentId: yield* (yield* Crypto.Crypto).randomUUIDv7() }
  yield* sql.unsafe(
    `insert into environments (id, workspace_id, name, is_default, month, created_at, wake_at) values ($1, $2, 'other', false, $3::date, $4, $4)`,
    [other.environmentId, tenant.workspaceId, monthOf(NOW), new Date(NOW)]
  )
  const run = Effect.fnUntraced(function* (of: Principal, price: bigint, since: number, until?: number) {
    const draft = yield* jobDraft(of, { price, hold: 1n })
    yield* (yield* JobAdmissionStore).admit(draft)
    yield* sql.unsafe(`update machines set running_at = $2, stopped_at = $3, status = $4 where id = $1`, [
      draft.machineId,
      new Date(since),
      until === undefined ? null : new Date(until),
      until === undefined ? "running" : "stopped"
    ])
    return draft
  })
  const claim = Effect.map(
    Effect.flatMap(BudgetStore, (store) => store.claim(10)),
    (rows) => rows.find(({ id }) => id === tenant.environmentId)!
  )
  return { claim, other, run, sql, tenant }
})

onEveryDatabase("BudgetReconciler", (it) => {
  it.effect("counts the machines that run in the environment, from the start of its month on", () =>
    Effect.gen(function* () {
      const { claim, other, run, tenant } = yield* setUp
      yield* run(tenant, 10n, MONTH - 7_200_000)
      yield* run(tenant, 20n, NOW - 1_000)
      yield* run(tenant, 30n, NOW - 1_000, NOW)
      yield* run(other, 40n, NOW - 1_000)
      const { budget, month, running, spent } = yield* claim
      expect([budget, month, spent]).toEqual([BUDGET, MONTH, 0n])
      expect(running.toSorted((a, b) => a.since - b.since)).toEqual([
        { price: 10n, since: MONTH },
        { price: 20n, since: NOW - 1_000 }
      ])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("stops the environment's jobs once, and no others; a new look may clear the mark", () =>
    Effect.gen(function* () {
      const { claim, other, run, sql, tenant } = yield* setUp
      const budgets = yield* BudgetStore
      const ledger = yield* LedgerStore
      const unwanted = yield* run(tenant, 10n, NOW - 1_000)
      yield* (yield* JobStore).stop(unwanted.jobId, "cancelled_by_user")
      const stopped = yield* run(tenant, 20n, NOW - 1_000)
      const spared = yield* run(other, 30n, NOW - 1_000)
      yield* TestClock.adjust(1_000)
      yield* budgets.reached(yield* claim, NOW + 10_000)
      const rows = yield* sql.unsafe<{ readonly id: string }>(
        `select j.id, j.stop_reason, j.stop_at, m.status, m.stop_requested_at from jobs j join machines m on m.job_id = j.id`
      )
      const row = (stop_reason: string | null, at: number | null, status: string) => {
        const when = at === null ? null : new Date(at)
        return { stop_reason, stop_at: when, status, stop_requested_at: when }
      }
      const of = ({ jobId }: { readonly jobId: string }) => rows.find(({ id }) => id === jobId)
      expect(of(unwanted)).toMatchObject(row("cancelled_by_user", NOW, "stopping"))
      expect(of(stopped)).toMatchObject(row("budget_reached", NOW + 1_000, "stopping"))
      expect(of(spared)).toMatchObject(row(null, null, "running"))
      expect([(yield* ledger.funds(tenant)).budgetReached, (yield* ledger.funds(other)).budgetReached]).toEqual([
        true,
        false
      ])
      yield* TestClock.setTime(NOW + 10_000)
      expect(yield* budgets.later(yield* claim, NOW + 20_000)).toBe(NOW + 20_000)
      expect((yield* ledger.funds(tenant)).budgetReached).toBe(false)
    }).pipe(Effect.provide(TestLayer))
  )
})
