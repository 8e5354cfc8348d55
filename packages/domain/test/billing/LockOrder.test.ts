/** A budget that is reached while its jobs and machines are reconciled: all statements lock in one order, without a deadlock. */
import { NodeServices } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { BudgetStore } from "@sluice/domain/billing/BudgetStore"
import { Replica } from "@sluice/domain/database/Replica"
import { JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { type ClaimedJob, stateOf } from "@sluice/domain/jobs/JobRow"
import { JobStore } from "@sluice/domain/jobs/JobStore"
import type { ClaimedMachine } from "@sluice/domain/machines/MachineRow"
import { MachineStore } from "@sluice/domain/machines/MachineStore"
import { Clock, Effect, Layer, Random } from "effect"
import { onPostgres } from "@sluice/testing/engines/Databases"
import { makeTenant } from "@sluice/testing/fixtures/Tenants"
import { jobDraft } from "../jobs/support/Drafts.ts"

const TestLayer = Layer.mergeAll(JobStore.layer, JobAdmissionStore.layer, MachineStore.layer, BudgetStore.layer).pipe(
  Layer.provideMerge(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)

const JOBS = 60
const ROUNDS = 60
const unbounded = { concurrency: "unbounded", discard: true } as const

onPostgres(
  "Lock order",
  (it) => {
    it.effect(
      "is the same for a reached budget, for jobs and for machines",
      () =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const [jobs, machines, budgets] = [yield* JobStore, yield* MachineStore, yield* BudgetStore]
          const admissions = yield* JobAdmissionStore
          const tenant = yield* makeTenant({ credit: 1_000_000n, budget: 1_000_000n })
          const admit = Effect.flatMap(jobDraft(tenant, { price: 1n, hold: 1n }), admissions.admit)
          yield* Effect.all(
            Array.from({ length: JOBS }, () => admit),
            unbounded
          )
          const now = yield* Clock.currentTimeMillis
          const due = new Date(now - 60_000)
          yield* sql.unsafe(`update machines set status = 'running', requested_at = $1, running_at = $1`, [due])

          // Each makes its rows due again, in the common order, and reconciles them in any order.
          const begin = (row: ClaimedJob) =>
            jobs.commit({
              row,
              state: { ...stateOf(row), status: "starting" },
              stopMachine: false,
              settle: null,
              wakeAt: now
            })
          const jobRound = Effect.gen(function* () {
            yield* sql.unsafe(
              `with j as materialized (select id from jobs order by id for update)
               update jobs set wake_at = $1, lease_until = null, status = 'queued', stop_reason = null, stop_at = null where id in (select id from j)`,
              [due]
            )
            yield* Effect.forEach(yield* Random.shuffle(yield* jobs.claim(JOBS)), begin, unbounded)
          })
          const look = (machine: ClaimedMachine) =>
            machines.commit(
              { machine, facts: machine.facts, keep: false, wakeAt: now, wakeJob: true, volumeBytes: null },
              false
            )
          const machineRound = Effect.gen(function* () {
            yield* sql.unsafe(
              `with m as materialized (select id from machines order by id for update)
               update machines set wake_at = $1, lease_until = null, status = 'running', stop_requested_at = null where id in (select id from m)`,
              [due]
            )
            yield* Effect.forEach(yield* Random.shuffle(yield* machines.claim(JOBS)), look, unbounded)
          })
          const budgetRound = Effect.gen(function* () {
            yield* sql.unsafe(`update environments set wake_at = $1, lease_until = null, budget_reached_on = null`, [
              due
            ])
            yield* Effect.forEach(yield* budgets.claim(1), (budget) => budgets.reached(budget, now))
          })
          const ids = (yield* sql.unsafe<{ readonly id: string }>(
            `select id from jobs union select id from machines`
          )).map(({ id }) => id)
          const renewRound = Effect.andThen(jobs.renew(ids), machines.renew(ids))
          const others = [machineRound, budgetRound, renewRound]
          const beside = Effect.forEach(others, (round) => Effect.forever(round), unbounded)
          const rounds = Effect.forEach(Array.from({ length: ROUNDS }), () => jobRound, { discard: true })
          yield* Effect.raceFirst(rounds, beside)
          yield* Effect.all([jobRound, machineRound])
          yield* budgetRound
          const asked = yield* sql.unsafe(
            `select from jobs j join machines m on m.id = j.machine_id where j.stop_reason = 'budget_reached' and m.status = 'stopping'`
          )
          expect(asked).toHaveLength(JOBS)
        }).pipe(Effect.provide(TestLayer)),
      300_000
    )
  },
  { live: true }
)
