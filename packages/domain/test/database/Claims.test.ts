/** Claims of rows: a row belongs to one replica until its lease ends, and a lost claim writes nothing. */
import { expect } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { BudgetStore } from "@sluice/domain/billing/BudgetStore"
import { Replica } from "@sluice/domain/database/Replica"
import { JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { stateOf } from "@sluice/domain/jobs/JobRow"
import { JobStore } from "@sluice/domain/jobs/JobStore"
import { MachineStore } from "@sluice/domain/machines/MachineStore"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { makeTenant } from "@sluice/testing/fixtures/Tenants"
import { jobDraft } from "../jobs/support/Drafts.ts"

const T0 = Date.UTC(2027, 2, 15)
const LEASE_MS = 6_000
const LATER_MS = 3_600_000

const tables = ["environments", "jobs", "machines"] as const

interface Claimed {
  readonly id: string
  readonly fence: bigint
  /** Records that there is no work until later; returns when the row wakes, or undefined when nothing was written. */
  readonly giveBack: Effect.Effect<number | undefined>
  /** The statement that also changes other rows. */
  readonly decide: Effect.Effect<unknown>
}

interface Claims {
  readonly claim: Effect.Effect<ReadonlyArray<Claimed>>
  readonly renew: (ids: ReadonlyArray<string>) => Effect.Effect<void>
}

/** A replica's claims of each kind of row. */
const replica = Effect.gen(function* () {
  const budgets = yield* BudgetStore
  const jobs = yield* JobStore
  const machines = yield* MachineStore
  const { currentTimeMillis } = yield* Clock.Clock
  const later = Effect.map(currentTimeMillis, (now) => now + LATER_MS)
  const written = ({ committed, wakeAt }: { readonly committed: boolean; readonly wakeAt: number }) =>
    committed ? wakeAt : undefined
  const ofEnvironments: Claims = {
    renew: budgets.renew,
    claim: Effect.map(budgets.claim(10), (rows) =>
      rows.map((row) => ({
        ...row,
        giveBack: Effect.flatMap(later, (at) => budgets.later(row, at)).pipe(
          Effect.map((wakeAt) => (Number.isFinite(wakeAt) ? wakeAt : undefined))
        ),
        decide: Effect.flatMap(later, (at) => budgets.reached(row, at))
      }))
    )
  }
  const ofJobs: Claims = {
    renew: jobs.renew,
    claim: Effect.map(jobs.claim(10), (rows) =>
      rows.map((row) => {
        const commit = (stopMachine: boolean) =>
          Effect.flatMap(later, (wakeAt) =>
            jobs.commit({ row, state: stateOf(row), stopMachine, settle: null, wakeAt })
          )
        return { ...row, giveBack: Effect.map(commit(false), written), decide: commit(true) }
      })
    )
  }
  const ofMachines: Claims = {
    renew: machines.renew,
    claim: Effect.map(machines.claim(10), (rows) =>
      rows.map((machine) => {
        const commit = (wakeJob: boolean) =>
          Effect.flatMap(later, (wakeAt) =>
            machines.commit({ machine, facts: machine.facts, keep: false, wakeAt, wakeJob, volumeBytes: null }, wakeJob)
          )
        return { ...machine, giveBack: Effect.map(commit(false), written), decide: commit(true) }
      })
    )
  }
  return { environments: ofEnvironments, jobs: ofJobs, machines: ofMachines }
})

const stores = Layer.mergeAll(BudgetStore.layer, JobStore.layer, MachineStore.layer).pipe(
  Layer.provide(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)
const another = Effect.flatMap(Layer.build(Layer.fresh(stores)), (context) => Effect.provide(replica, context))

/** One due row of each kind, and the state of all of them. */
const setUp = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* TestClock.setTime(T0)
  const tenant = yield* makeTenant({ budget: 1_000n })
  yield* (yield* JobAdmissionStore).admit(yield* jobDraft(tenant, { price: 1n, hold: 1n }))
  for (const table of tables) yield* sql.unsafe(`update ${table} set wake_at = $1`, [new Date(T0)])
  return {
    sql,
    all: Effect.forEach(tables, (table) => sql.unsafe(`select t::text as row from ${table} t`)),
    here: yield* another,
    there: yield* another
  }
})
const admissions = JobAdmissionStore.layer.pipe(
  Layer.provide(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)

onEveryDatabase("A claim", (it) => {
  it.effect("belongs to one replica until its lease ends, and only that replica renews it", () =>
    Effect.gen(function* () {
      const { here, there } = yield* setUp
      for (const table of tables) {
        yield* TestClock.setTime(T0)
        const [row] = yield* here[table].claim
        yield* TestClock.setTime(T0 + LEASE_MS - 1)
        expect(yield* there[table].claim).toEqual([])
        yield* here[table].renew([row!.id])
        yield* TestClock.setTime(T0 + 2 * LEASE_MS - 2)
        yield* there[table].renew([row!.id])
        expect(yield* there[table].claim).toEqual([])
        yield* TestClock.setTime(T0 + 2 * LEASE_MS - 1)
        expect(yield* there[table].claim).toMatchObject([{ id: row!.id, fence: row!.fence + 1n }])
      }
    }).pipe(Effect.scoped, Effect.provide(admissions))
  )

  it.effect("writes nothing after it was lost, whichever replica has the row", () =>
    Effect.gen(function* () {
      const { all, here, there } = yield* setUp
      for (const table of tables) {
        const [lost] = yield* here[table].claim
        for (const owner of [there, here]) {
          yield* TestClock.adjust(LEASE_MS)
          const [row] = yield* owner[table].claim
          const before = yield* all
          expect(yield* lost!.giveBack).toBe(undefined)
          yield* lost!.decide
          expect(yield* all, table).toEqual(before)
          if (owner === here) expect(yield* row!.giveBack).toBe((yield* Clock.currentTimeMillis) + LATER_MS)
        }
      }
    }).pipe(Effect.scoped, Effect.provide(admissions))
  )

  it.effect("is due again at once when an event reached the row meanwhile", () =>
    Effect.gen(function* () {
      for (const end of ["giveBack", "decide"] as const) {
        const { here, sql, there } = yield* setUp
        for (const table of tables) {
          const [row] = yield* here[table].claim
          yield* sql.unsafe(`update ${table} set events = events + 1 where id = $1`, [row!.id])
          const answer = yield* row![end]
          if (end === "giveBack") expect(answer).toBe(T0)
          expect(yield* there[table].claim, `${table} ${end}`).toMatchObject([{ id: row!.id }])
        }
      }
    }).pipe(Effect.scoped, Effect.provide(admissions))
  )
})
