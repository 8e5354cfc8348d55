/**
 * For any interleaving of holds, extensions, credits and ends: entries sum to zero, no balance below zero, each end is
 * paid once.
 */
import { assert } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { HoldStore } from "@sluice/domain/billing/HoldStore"
import { LedgerStore } from "@sluice/domain/billing/LedgerStore"
import { costOf } from "@sluice/domain/billing/Money"
import { Replica } from "@sluice/domain/database/Replica"
import { Signals } from "@sluice/domain/database/Signals"
import { type Admission, JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { JobReconciler } from "@sluice/domain/jobs/JobReconciler"
import { JobStore } from "@sluice/domain/jobs/JobStore"
import { Clock, type Crypto, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { auditBooks, makeTenant } from "@sluice/testing/fixtures/Tenants"
import { jobDraft } from "./support/Drafts.ts"

const TestLayer = JobReconciler.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(JobStore.layer, HoldStore.layer, JobAdmissionStore.layer, LedgerStore.layer)),
  Layer.provideMerge(Layer.mergeAll(Replica.layer({ speed: 1 }), Signals.layer)),
  Layer.provideMerge(NodeServices.layer)
)

const PRICE = 3_600_000n
const T0 = Date.UTC(2027, 2, 15)

type Step =
  | { readonly _tag: "Submit"; readonly hold: number }
  | { readonly _tag: "Extend"; readonly job: number; readonly target: number }
  | { readonly _tag: "End"; readonly job: number; readonly ms: number }
  | { readonly _tag: "Credit"; readonly amount: number; readonly reference: number }
  | { readonly _tag: "Tick" }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ _tag: fc.constant("Submit" as const), hold: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("Extend" as const), job: fc.nat(9), target: fc.nat(90) }) },
  { weight: 4, arbitrary: fc.record({ _tag: fc.constant("End" as const), job: fc.nat(9), ms: fc.nat(80) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      _tag: fc.constant("Credit" as const),
      amount: fc.integer({ min: 1, max: 50 }),
      reference: fc.nat(3)
    })
  },
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant("Tick" as const) }) }
)

const play = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
  const sql = yield* PgClient.PgClient
  const admissions = yield* JobAdmissionStore
  const holds = yield* HoldStore
  const ledger = yield* LedgerStore
  const jobs = yield* JobReconciler
  const tenant = yield* makeTenant({ credit: 100n })
  const admitted: Array<Admission> = []
  const costs = new Map<string, bigint>()

  const submit = Effect.fnUntraced(function* (hold: number) {
    const admission = { ...(yield* jobDraft(tenant, { price: PRICE, hold: BigInt(hold) })), launch: true }
    yield* admissions.admit(admission)
    admitted.push(admission)
  })

  const end = Effect.fnUntraced(function* (admission: Admission | undefined, ms: number) {
    if (admission === undefined || costs.has(admission.jobId)) return
    const now = yield* Clock.currentTimeMillis
    costs.set(admission.jobId, costOf(PRICE, ms))
    yield* sql.unsafe(
      `with j as (update jobs set events = events + 1, wake_at = case when lease_until > $3 then wake_at else least(wake_at, $3) end
         where machine_id = $1) update machines set status = 'stopped', running_at = $2, command_started_at = $2, command_exited_at = $3, exit_code = 0,
         exit_why = 'exit', stopped_at = $3 where id = $1`,
      [admission.machineId, new Date(now - ms), new Date(now)]
    )
  })

  const run = (one: Step): Effect.Effect<unknown, never, Crypto.Crypto> => {
    switch (one._tag) {
      case "Submit":
        return Effect.ignore(submit(one.hold))
      case "Extend":
        return admitted[one.job] === undefined
          ? Effect.void
          : holds.extend(admitted[one.job]!.jobId, BigInt(one.target))
      case "End":
        return Effect.orDie(end(admitted[one.job], one.ms))
      case "Credit":
        return ledger.credit(tenant.workspaceId, BigInt(one.amount), `r${one.reference}`)
      case "Tick":
        return jobs.tick
    }
  }
  yield* Effect.forEach(steps, run, { concurrency: 6, discard: true })
  yield* Effect.forEach(admitted, (one) => Effect.orDie(end(one, 5)), { discard: true })
  yield* TestClock.adjust("2 hours")
  yield* jobs.tick
  return { costs, tenant }
})

onEveryDatabase("Settlement", (it) => {
  it.effect(
    "keeps the books balanced for any interleaving",
    () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* TestClock.setTime(T0)
        const samples = fc.sample(fc.array(step, { minLength: 5, maxLength: 40 }), 40)
        for (const steps of samples) {
          const { costs, tenant } = yield* play(steps)
          assert.deepStrictEqual(yield* auditBooks, [], JSON.stringify(steps))
          const rows = yield* sql.unsafe<{
            readonly id: string
            readonly status: string
            readonly cost: bigint
            readonly paid: bigint | null
            readonly charged: bigint | null
          }>(
            `select j.id, j.status, j.cost, (select sum(amount) from entries where txn_id = j.id and amount > 0)::int8 as paid,
               (select -sum(n.amount) from entries n join accounts a on a.id = n.account_id where n.txn_id = j.id)::int8 as charged from jobs j where workspace_id = $1`,
            [tenant.workspaceId]
          )
          for (const row of rows) {
            assert.strictEqual(row.status, "succeeded")
            assert.strictEqual(row.cost, row.charged ?? 0n, "the job says what its customer paid")
            assert.isTrue(row.cost <= costs.get(row.id)!)
            assert.strictEqual(row.paid ?? 0n, costs.get(row.id), "all of the cost is in the books, once")
          }
          const held = yield* sql.unsafe<{ readonly held: bigint }>(`select held from accounts where id = $1`, [
            tenant.workspaceId
          ])
          assert.strictEqual(held[0]?.held, 0n, "nothing is held for what ended")
        }
      }).pipe(Effect.provide(TestLayer)),
    300_000
  )
})
