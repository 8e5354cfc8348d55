/** A job whose hold is used up extends it while the balance lasts, and stops when no balance is left (decisions: Jobs). */
import { expect } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { HoldStore } from "@sluice/domain/billing/HoldStore"
import { REVENUE_ACCOUNT, WRITE_OFF_ACCOUNT } from "@sluice/domain/billing/Ledger"
import { Replica } from "@sluice/domain/database/Replica"
import { Signals } from "@sluice/domain/database/Signals"
import { JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { JobReconciler } from "@sluice/domain/jobs/JobReconciler"
import { JobStore } from "@sluice/domain/jobs/JobStore"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { auditBooks, makeTenant } from "@sluice/testing/fixtures/Tenants"
import { jobDraft } from "./support/Drafts.ts"

const T0 = Date.UTC(2027, 2, 15)
/** 1 a millisecond. */
const PRICE = 3_600_000n
const MINUTE = 60_000

const TestLayer = JobReconciler.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(JobStore.layer, HoldStore.layer, JobAdmissionStore.layer)),
  Layer.provideMerge(Layer.mergeAll(Replica.layer({ speed: 1 }), Signals.layer)),
  Layer.provideMerge(NodeServices.layer)
)

/** A job that holds 10 of its workspace's balance, and whose machine runs from T0 on. */
const running = Effect.fnUntraced(function* (credit: bigint) {
  const sql = yield* PgClient.PgClient
  yield* TestClock.setTime(T0)
  const tenant = yield* makeTenant({ credit })
  const { jobId, machineId } = yield* jobDraft(tenant, { price: PRICE, hold: 10n }).pipe(
    Effect.tap((draft) => Effect.flatMap(JobAdmissionStore, (store) => store.admit(draft)))
  )
  const at = new Date(T0)
  yield* sql.unsafe(`update machines set status = 'running', running_at = $1, command_started_at = $1`, [at])
  const look = Effect.fnUntraced(function* (ms: number) {
    yield* TestClock.setTime(T0 + ms)
    yield* sql.unsafe(`update jobs set wake_at = $1 where ended_at is null`, [new Date(T0 + ms)])
    yield* (yield* JobReconciler).tick
    const [row] = yield* sql.unsafe<{ readonly stop_at: Date | null; readonly wake_at: Date; readonly held: bigint }>(
      `select j.stop_reason, j.stop_at, j.wake_at, j.cost, a.held from jobs j join accounts a on a.id = j.workspace_id where j.id = $1`,
      [jobId]
    )
    const { stop_at, wake_at, ...rest } = row!
    return { ...rest, stopAt: stop_at === null ? null : stop_at.getTime() - T0, wakeAt: wake_at.getTime() - T0 }
  })
  const gone = (ms: number) =>
    sql.unsafe(`update machines set status = 'stopped', stopped_at = $2 where id = $1`, [machineId, new Date(T0 + ms)])
  const booked = sql.unsafe<{ readonly account_id: string; readonly amount: bigint }>(
    `select account_id, amount from entries where txn_id = $1 order by seq`,
    [jobId]
  )
  return { booked: Effect.map(booked, (rows) => rows.map((row) => [row.account_id, row.amount])), gone, look, tenant }
})

onEveryDatabase("JobReconciler", (it) => {
  it.effect("extends the hold by a quarter of an hour each time, while the balance lasts", () =>
    Effect.gen(function* () {
      const { look } = yield* running(100n * BigInt(MINUTE))
      const goesOn = { stop_reason: null, stopAt: null }
      expect(yield* look(9)).toMatchObject({ ...goesOn, held: 10n, wakeAt: 10 })
      const more = 10 + 15 * MINUTE
      expect(yield* look(10)).toMatchObject({ ...goesOn, held: BigInt(more), wakeAt: more })
      expect(yield* look(more)).toMatchObject({ ...goesOn, held: BigInt(more + 15 * MINUTE) })
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("holds the last of the balance, stops the job there, and charges the operator for the stop", () =>
    Effect.gen(function* () {
      const { booked, gone, look, tenant } = yield* running(100n)
      expect(yield* look(10)).toMatchObject({ stop_reason: null, held: 100n, wakeAt: 100 })
      expect(yield* look(99)).toMatchObject({ stop_reason: null, held: 100n })
      expect(yield* look(130)).toMatchObject({ stop_reason: "balance_exhausted", stopAt: 100 })
      yield* gone(140)
      expect(yield* look(150)).toMatchObject({ stop_reason: "balance_exhausted", held: 0n, cost: 100n })
      expect(yield* booked).toEqual([
        [tenant.workspaceId, -100n],
        [REVENUE_ACCOUNT, 140n],
        [WRITE_OFF_ACCOUNT, -40n]
      ])
      expect(yield* auditBooks).toEqual([])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("charges a late-observed end in full, up to the balance", () =>
    Effect.gen(function* () {
      const { booked, gone, look, tenant } = yield* running(100n)
      yield* gone(60)
      expect(yield* look(70)).toMatchObject({ held: 0n, cost: 60n })
      expect(yield* booked).toEqual([
        [tenant.workspaceId, -60n],
        [REVENUE_ACCOUNT, 60n]
      ])
    }).pipe(Effect.provide(TestLayer))
  )
})
