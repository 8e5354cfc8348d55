/** The outbox: a change records its event in its own statement, and old events are deleted. */
import { expect } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { BudgetStore } from "@sluice/domain/billing/BudgetStore"
import { monthOf } from "@sluice/domain/billing/Month"
import { OutboxStore } from "@sluice/domain/database/OutboxStore"
import { OutboxSweep } from "@sluice/domain/database/OutboxSweep"
import { Replica } from "@sluice/domain/database/Replica"
import { EnvironmentStore } from "@sluice/domain/environments/EnvironmentStore"
import { JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { stateOf } from "@sluice/domain/jobs/JobRow"
import { JobStore } from "@sluice/domain/jobs/JobStore"
import { MachineStore } from "@sluice/domain/machines/MachineStore"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { makeTenant } from "@sluice/testing/fixtures/Tenants"
import { jobDraft } from "../jobs/support/Drafts.ts"

const NOW = Date.UTC(2027, 2, 15)
const DAY = 24 * 60 * 60_000
const FAR = NOW + DAY

const TestLayer = Layer.mergeAll(
  BudgetStore.layer,
  EnvironmentStore.layer,
  JobAdmissionStore.layer,
  JobStore.layer,
  MachineStore.layer,
  OutboxStore.layer,
  OutboxSweep.layer
).pipe(Layer.provide(Replica.layer({ speed: 1 })), Layer.provideMerge(NodeServices.layer))

const eventsOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql.unsafe<{ readonly type: string; readonly data: object }>(
    `select type, data from outbox_events where resource_id = $1 order by id`,
    [id]
  )
  return rows.map(({ data, type }) => [type, data] as const)
})

onEveryDatabase("The outbox", (it) => {
  it.effect("has one event for each status of a job and its machine, even if a step has not seen the stop", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW)
      const sql = yield* PgClient.PgClient
      const jobs = yield* JobStore
      const machines = yield* MachineStore
      const draft = yield* jobDraft(yield* makeTenant(), { price: 1n, hold: 1n })
      yield* (yield* JobAdmissionStore).admit(draft)
      yield* sql.unsafe(`update jobs set wake_at = $1`, [new Date(NOW)])
      yield* sql.unsafe(`update machines set status = 'running', wake_at = $1`, [new Date(NOW)])
      const row = (yield* jobs.claim(10)).find(({ id }) => id === draft.jobId)!
      const machine = (yield* machines.claim(10)).find(({ id }) => id === draft.machineId)!
      const step = { row, stopMachine: false, settle: null, wakeAt: FAR }
      yield* jobs.commit({ ...step, state: { ...stateOf(row), status: "running", startedAt: NOW } })
      // The first commit ended the claim: this one writes nothing.
      yield* jobs.commit({ ...step, state: { ...stateOf(row), status: "starting" } })
      yield* jobs.stop(draft.jobId, "cancelled_by_user")
      yield* jobs.stop(draft.jobId, "cancelled_by_user")
      const { facts } = machine
      const seen = { machine, wakeAt: FAR, wakeJob: false, volumeBytes: null }
      yield* machines.commit({ ...seen, facts, keep: true }, false)
      yield* machines.commit({ ...seen, facts: { ...facts, status: "stopped", stoppedAt: NOW }, keep: false }, false)
      expect(yield* eventsOf(draft.jobId)).toMatchObject([
        ["job.queued", { status: "queued" }],
        ["job.running", { status: "running", started_at: expect.stringMatching(/^2027-03-15T00:00:00/) }]
      ])
      expect((yield* eventsOf(draft.machineId)).map(([type]) => type)).toEqual([
        "instance.stopping",
        "instance.stopped"
      ])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("has an event of each new budget, and one event of a reached budget however often it is found", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW)
      const { environmentId, workspaceId } = yield* makeTenant({ budget: 100n })
      const environments = yield* EnvironmentStore
      const budgets = yield* BudgetStore
      for (const budget of [50n, 50n]) {
        yield* environments.setBudget(workspaceId, environmentId, budget, new Date(NOW), monthOf(NOW))
      }
      for (const _ of [1, 2]) {
        const claimed = (yield* budgets.claim(10)).find(({ id }) => id === environmentId)!
        yield* budgets.reached(claimed, NOW)
      }
      expect(yield* eventsOf(environmentId)).toMatchObject([
        ["budget.changed", { monthly_budget: "50" }],
        ["budget.reached", { monthly_budget: "50", month: "2027-03-01" }]
      ])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("loses its oldest events in batches, and keeps those of the last 30 days", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW)
      const sql = yield* PgClient.PgClient
      const store = yield* OutboxStore
      yield* sql.unsafe(`delete from outbox_events`)
      for (const days of [40, 31, 31, 29, 1]) {
        yield* sql.unsafe(
          `insert into outbox_events (workspace_id, environment_id, type, resource_type, resource_id, data, created_at)
             select id, id, 'job.queued', 'job', id, '{}', $1 from (select '00000000-0000-7000-8000-000000000009'::uuid as id) ids`,
          [new Date(NOW - days * DAY)]
        )
      }
      expect(yield* store.forget(NOW - 35 * DAY, 10)).toBe(1)
      expect(yield* store.forget(NOW - 30 * DAY, 1)).toBe(1)
      expect(yield* (yield* OutboxSweep).sweep).toBe(1)
      const left = yield* sql.unsafe(`select created_at from outbox_events order by id`)
      expect(left).toEqual([29, 1].map((days) => ({ created_at: new Date(NOW - days * DAY) })))
    }).pipe(Effect.provide(TestLayer))
  )
})
