/** A commit of a job beside concurrent requests of callers, and the settlement of many jobs at once (decisions: Jobs, Billing). */
import { expect } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import type { Principal } from "@sluice/domain/access/Principal"
import { REVENUE_ACCOUNT, WRITE_OFF_ACCOUNT } from "@sluice/domain/billing/Ledger"
import { Replica } from "@sluice/domain/database/Replica"
import type { StatusReason } from "@sluice/domain/jobs/Job"
import { JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { type ClaimedJob, stateOf } from "@sluice/domain/jobs/JobRow"
import { JobStore } from "@sluice/domain/jobs/JobStore"
import { MachineStore } from "@sluice/domain/machines/MachineStore"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { auditBooks, makeTenant } from "@sluice/testing/fixtures/Tenants"
import { jobDraft } from "./support/Drafts.ts"

const T0 = Date.UTC(2027, 2, 15)
const FAR = T0 + 86_400_000

const TestLayer = Layer.mergeAll(JobAdmissionStore.layer, JobStore.layer, MachineStore.layer).pipe(
  Layer.provide(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)

/** A job that is due, with its machine. */
const admitted = Effect.fnUntraced(function* (tenant: Principal, hold: bigint) {
  const sql = yield* PgClient.PgClient
  const draft = yield* jobDraft(tenant, { price: 1n, hold })
  yield* (yield* JobAdmissionStore).admit(draft)
  yield* sql.unsafe(`update jobs set wake_at = $1`, [new Date(T0)])
  yield* sql.unsafe(`update machines set status = 'running', wake_at = $1`, [new Date(T0)])
  return draft
})

onEveryDatabase("JobStore", (it) => {
  it.effect("keeps the first stop that was asked for, whatever a step that did not see it commits", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const jobs = yield* JobStore
      const machines = yield* MachineStore
      for (const own of [null, { reason: "max_runtime" as StatusReason, at: T0 + 1 }]) {
        yield* TestClock.setTime(T0)
        const { jobId, machineId } = yield* admitted(yield* makeTenant(), 1n)
        const row = (yield* jobs.claim(10)).find(({ id }) => id === jobId)!
        const machine = (yield* machines.claim(10)).find(({ id }) => id === machineId)!
        yield* jobs.stop(jobId, "cancelled_by_user")
        yield* TestClock.adjust(1_000)
        yield* jobs.stop(jobId, "instance_stopped")
        const state = { ...stateOf(row), stop: own }
        yield* jobs.commit({ row, state, stopMachine: own !== null, settle: null, wakeAt: FAR })
        const { facts } = machine
        yield* machines.commit({ machine, facts, keep: false, wakeAt: FAR, wakeJob: false, volumeBytes: null }, false)
        const asked = new Date(T0)
        expect(
          yield* sql.unsafe(
            `select j.stop_reason, j.stop_at, j.cancel_requested_at, m.stop_requested_at from jobs j join machines m on m.job_id = j.id where j.id = $1`,
            [jobId]
          )
        ).toEqual([
          { stop_reason: "cancelled_by_user", stop_at: asked, cancel_requested_at: asked, stop_requested_at: asked }
        ])
      }
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("settles many ends of one account in one statement as if one came after the other, and once", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const sql = yield* PgClient.PgClient
      const jobs = yield* JobStore
      const tenant = yield* makeTenant({ credit: 100n })
      const costs = new Map<string, bigint | undefined>()
      for (const cost of [5n, 0n, undefined, 15n, 10n]) {
        costs.set((yield* admitted(tenant, 10n)).jobId, cost)
        // Their ids are in this order.
        yield* TestClock.adjust(1)
      }
      const ran = T0 - 1_000
      const end = ({ row, settle }: { readonly row: ClaimedJob; readonly settle: bigint | undefined }) => {
        const state = { ...stateOf(row), status: "failed" as const, endedAt: T0, error: "it ended" }
        const machine = { ...row.machine, runningAt: settle === undefined ? null : ran }
        return jobs.commit({ row: { ...row, machine }, state, stopMachine: false, settle: settle ?? 0n, wakeAt: FAR })
      }
      const rows = (yield* jobs.claim(10)).map((row) => ({ row, settle: costs.get(row.id) }))
      const once = yield* Effect.forEach(rows, end, { concurrency: "unbounded" })
      const again = yield* Effect.forEach(rows, end, { concurrency: "unbounded" })
      expect([once.every((one) => one.committed), again.some((one) => one.committed)]).toEqual([true, false])

      const told = yield* sql.unsafe(
        `select j.cost, h.state, (select array_agg(n.amount::text order by n.seq) from entries n where n.txn_id = j.id) as entries
           from jobs j join holds h on h.id = j.id order by j.id`
      )
      expect(told).toEqual([
        { cost: 5n, state: "settled", entries: ["-5", "5"] },
        { cost: 0n, state: "released", entries: null },
        { cost: null, state: "released", entries: null },
        { cost: 10n, state: "settled", entries: ["-10", "15", "-5"] },
        { cost: 10n, state: "settled", entries: ["-10", "10"] }
      ])
      const [sums] = yield* sql.unsafe<{ readonly accounts: Record<string, number> }>(
        `select json_object_agg(account_id, sum) as accounts from
           (select account_id, sum(amount) from entries where txn_id in (select id from jobs) group by account_id) x`
      )
      expect(sums?.accounts).toEqual({ [tenant.workspaceId]: -25, [REVENUE_ACCOUNT]: 30, [WRITE_OFF_ACCOUNT]: -5 })
      const after = yield* sql.unsafe(
        `select n.balance_after from entries n join jobs j on j.id = n.txn_id where n.account_id = $1 order by j.id`,
        [tenant.workspaceId]
      )
      expect(after).toEqual([{ balance_after: 95n }, { balance_after: 85n }, { balance_after: 75n }])
      expect(yield* sql.unsafe(`select count(*) as n from txns where kind = 'machine'`)).toEqual([{ n: 3n }])
      expect(yield* sql.unsafe(`select balance, held from accounts`)).toEqual([{ balance: 75n, held: 0n }])
      expect(yield* auditBooks).toEqual([])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("lets one end of a job through where its two claims are committed at once", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const jobs = yield* JobStore
      const tenant = yield* makeTenant({ credit: 100n })
      yield* admitted(tenant, 10n)
      yield* admitted(tenant, 10n)
      // Its lease ran out while the database kept it waiting, and the same replica claimed it again.
      const before = yield* jobs.claim(10)
      yield* TestClock.adjust(3_600_000)
      const now = yield* jobs.claim(10)
      expect([before.length, now.length]).toEqual([2, 2])
      const end = (row: ClaimedJob) => {
        const state = { ...stateOf(row), status: "failed" as const, endedAt: T0, error: "it ended" }
        return jobs.commit({ row, state, stopMachine: false, settle: null, wakeAt: FAR })
      }
      const told = yield* Effect.forEach([...before, ...now, ...now], end, { concurrency: "unbounded" })
      expect(told.map(({ committed }) => committed)).toEqual([false, false, true, true, false, false])
      expect(yield* auditBooks).toEqual([])
    }).pipe(Effect.provide(TestLayer))
  )
})
