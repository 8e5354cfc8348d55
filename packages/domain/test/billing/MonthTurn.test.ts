/** The turn of a month where the clocks of two replicas differ: one month counts for both, and its budget holds for both. */
import { NodeServices } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { BudgetReached } from "@sluice/domain/billing/BillingErrors"
import { BudgetStore } from "@sluice/domain/billing/BudgetStore"
import { monthOf, nextMonth } from "@sluice/domain/billing/Month"
import { LedgerStore } from "@sluice/domain/billing/LedgerStore"
import { costOf } from "@sluice/domain/billing/Money"
import { Replica } from "@sluice/domain/database/Replica"
import { Environments } from "@sluice/domain/environments/Environments"
import { MeteringStore } from "@sluice/domain/metering/MeteringStore"
import { VideoStore } from "@sluice/domain/videos/VideoStore"
import { JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { stateOf } from "@sluice/domain/jobs/JobRow"
import { JobStore } from "@sluice/domain/jobs/JobStore"
import { Crypto, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { makeTenant } from "@sluice/testing/fixtures/Tenants"
import { jobDraft } from "../jobs/support/Drafts.ts"
import { meterRow } from "./support/Work.ts"

const TestLayer = Layer.mergeAll(MeteringStore.layer, VideoStore.layer, Environments.layer, BudgetStore.layer).pipe(
  Layer.merge(Layer.mergeAll(JobAdmissionStore.layer, LedgerStore.layer, JobStore.layer)),
  Layer.provideMerge(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)

const BUDGET = 100n
const NOVEMBER = Date.UTC(2026, 10, 30, 23, 59)
const DECEMBER = NOVEMBER + 120_000
const PRICE = 3_600_000n

const clocks = [NOVEMBER, DECEMBER]
const step = fc.record({ at: fc.constantFrom(...clocks), cost: fc.integer({ min: 1, max: 90 }) })

/** A tenant with a budget, and its actions on a replica whose clock shows `at`. */
const setUp = Effect.gen(function* () {
  yield* TestClock.setTime(NOVEMBER)
  const tenant = yield* makeTenant({ credit: 1_000_000_000n, budget: BUDGET })
  const { randomUUIDv7 } = yield* Crypto.Crypto
  const metering = yield* MeteringStore
  const ask = Effect.fnUntraced(function* (cost: bigint, at: number) {
    const id = yield* randomUUIDv7()
    const [reserved] = yield* metering.flush([meterRow(tenant, id, false, cost)], at, at + 60_000)
    if (reserved!.refused !== null) return false
    yield* metering.flush([meterRow(tenant, id, true, cost)], at, at + 60_000)
    return true
  })
  /** The month as the caller sees it. */
  const shown = Effect.fnUntraced(function* (at: number) {
    yield* TestClock.setTime(at)
    const { budgetResetsAt, monthSpent } = yield* (yield* Environments).get(tenant, tenant.environmentId)
    const { budgetReached, budgetRemaining } = yield* (yield* LedgerStore).funds(tenant)
    expect(budgetRemaining).toBe(monthSpent < BUDGET ? BUDGET - monthSpent : 0n)
    return { budgetReached, monthSpent, resetsAt: budgetResetsAt.getTime() }
  })
  return { ask, shown, tenant }
})

onEveryDatabase("The turn of a month", (it) => {
  it.effect("serves no more than a month's budget, on any replica in any order", () =>
    Effect.gen(function* () {
      const spentFirst = [NOVEMBER, DECEMBER, NOVEMBER, NOVEMBER].map((at, n) => ({ at, cost: [100, 1, 99, 99][n]! }))
      for (const steps of [spentFirst, ...fc.sample(fc.array(step, { minLength: 4, maxLength: 12 }), 25)]) {
        const { ask, shown } = yield* setUp
        let row = { began: monthOf(NOVEMBER), spent: 0n }
        for (const { at, cost } of steps) {
          const seen = row.began < monthOf(at) ? { began: monthOf(at), spent: 0n } : row
          expect(yield* ask(BigInt(cost), at), JSON.stringify(steps)).toBe(seen.spent < BUDGET)
          if (seen.spent < BUDGET) row = { ...seen, spent: seen.spent + BigInt(cost) }
          const resetsAt = nextMonth(Date.parse(row.began))
          const counts = { budgetReached: row.spent >= BUDGET, monthSpent: row.spent, resetsAt }
          const anew = { budgetReached: false, monthSpent: 0n, resetsAt: nextMonth(DECEMBER) }
          expect(yield* shown(NOVEMBER)).toEqual(counts)
          expect(yield* shown(DECEMBER)).toEqual(row.began < monthOf(DECEMBER) ? anew : counts)
        }
      }
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("counts a job's cost of the current month alone, on any replica that ends it", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const jobs = yield* JobStore
      const turn = nextMonth(NOVEMBER)
      // The machine ran from an hour before the turn until a second after it, by the clock that is ahead.
      const [from, until] = [turn - 3_600_000, turn + 1_000]
      const total = costOf(PRICE, until - from)
      for (const [moved, at, counted] of [
        [false, NOVEMBER, total],
        [false, DECEMBER, costOf(PRICE, 1_000)],
        [true, NOVEMBER, costOf(PRICE, 1_000)],
        [true, DECEMBER, costOf(PRICE, 1_000)]
      ] as const) {
        const { ask, tenant } = yield* setUp
        yield* ask(2n, NOVEMBER)
        const draft = yield* jobDraft(tenant, { price: PRICE, hold: 2n * PRICE })
        yield* (yield* JobAdmissionStore).admit(draft)
        if (moved) yield* ask(1n, DECEMBER)
        yield* sql.unsafe(
          `with j as (update jobs set wake_at = created_at where id = $1)
           update machines set status = 'stopped', running_at = $2, stopped_at = $3 where job_id = $1`,
          [draft.jobId, new Date(from), new Date(until)]
        )
        yield* TestClock.setTime(at)
        const row = (yield* jobs.claim(10)).find(({ id }) => id === draft.jobId)!
        const state = { ...stateOf(row), status: "succeeded" as const, endedAt: until, exitCode: 0 }
        yield* jobs.commit({ row, state, stopMachine: false, settle: total, wakeAt: at })
        const [environment] = yield* sql.unsafe(`select month_spent as spent from environments where id = $1`, [
          tenant.environmentId
        ])
        const asked = moved ? 1n : at === NOVEMBER ? 2n : 0n
        expect(environment).toEqual({ spent: counted + asked })
      }
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("is watched in one month: a mark holds for the replica that is behind", () =>
    Effect.gen(function* () {
      const budgets = yield* BudgetStore
      const sql = yield* PgClient.PgClient
      const videos = yield* VideoStore
      const admissions = yield* JobAdmissionStore
      for (const order of [clocks, clocks.toReversed()]) {
        const { ask, shown, tenant } = yield* setUp
        yield* ask(BUDGET, NOVEMBER)
        for (const at of order) {
          yield* sql.unsafe(`update environments set wake_at = $1, lease_until = null`, [new Date(NOVEMBER)])
          yield* TestClock.setTime(at)
          const claimed = (yield* budgets.claim(10)).find(({ id }) => id === tenant.environmentId)!
          const first = order[0] === NOVEMBER && at === NOVEMBER
          expect([claimed.month, claimed.spent]).toEqual(
            first ? [Date.UTC(2026, 10, 1), BUDGET] : [nextMonth(NOVEMBER), 0n]
          )
          // Suppose that the running cost reaches the budget.
          if (first || at === order[1]) yield* budgets.reached(claimed, nextMonth(claimed.month))
        }
        for (const at of clocks) {
          expect((yield* shown(at)).budgetReached).toBe(true)
          expect(yield* ask(1n, at)).toBe(false)
          const id = yield* (yield* Crypto.Crypto).randomUUIDv7()
          const film = { model: "film", prompt: "a wave", size: "1x1", seconds: 1, price: 1n, image: undefined }
          expect(yield* videos.admit({ ...tenant, ...film, id })).toMatchObject({ refused: "budget_reached" })
          const refused = yield* Effect.exit(admissions.admit(yield* jobDraft(tenant, { price: PRICE, hold: 1n })))
          expect(refused).toEqual(Exit.fail(new BudgetReached({ environmentName: tenant.environmentName })))
        }
      }
    }).pipe(Effect.provide(TestLayer))
  )
})
