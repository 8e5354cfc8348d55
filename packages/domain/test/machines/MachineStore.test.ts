/** The effects of a machine commit on other rows: its volume, its job, and the machines that wait for capacity. */
import { expect } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import type { Principal } from "@sluice/domain/access/Principal"
import { Replica } from "@sluice/domain/database/Replica"
import { JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { JobStore } from "@sluice/domain/jobs/JobStore"
import type { MachineFacts } from "@sluice/domain/machines/MachineLifecycle"
import { MachineStore } from "@sluice/domain/machines/MachineStore"
import { Crypto, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { makeTenant } from "@sluice/testing/fixtures/Tenants"
import { jobDraft } from "../jobs/support/Drafts.ts"

const T0 = Date.UTC(2027, 2, 15)

const TestLayer = Layer.mergeAll(MachineStore.layer, JobStore.layer, JobAdmissionStore.layer).pipe(
  Layer.provide(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)

/** A machine that is claimed, with the volume of that number; and what a commit of it does. */
const claimed = Effect.fnUntraced(function* (tenant: Principal, name: string) {
  const sql = yield* PgClient.PgClient
  const store = yield* MachineStore
  const volumeId = yield* (yield* Crypto.Crypto).randomUUIDv7()
  yield* sql.unsafe(
    `insert into volumes (id, workspace_id, environment_id, name, region, size_gb, used_bytes, created_at) values ($1, $2, $3, $4, 'r', 1, 3, $5)`,
    [volumeId, tenant.workspaceId, tenant.environmentId, name, new Date(T0)]
  )
  const draft = { ...(yield* jobDraft(tenant, { price: 1n, hold: 1n })), volumeId }
  yield* (yield* JobAdmissionStore).admit(draft)
  yield* sql.unsafe(`update machines set wake_at = $2 where id = $1`, [draft.machineId, new Date(T0)])
  const machine = (yield* store.claim(10)).find(({ id }) => id === draft.machineId)!
  const commit = (facts: Partial<MachineFacts>, volumeBytes: number | null = null, as = machine) =>
    store.commit(
      {
        machine: as,
        facts: { ...machine.facts, runningAt: T0, ...facts },
        keep: facts.stoppedAt === undefined,
        wakeAt: T0,
        wakeJob: true,
        volumeBytes
      },
      true
    )
  const volume = sql.unsafe<{ readonly attached_to: string | null; readonly used_bytes: bigint }>(
    `select attached_to, used_bytes from volumes where id = $1`,
    [volumeId]
  )
  return { ...draft, commit, volume: Effect.map(volume, ([row]) => [row!.attached_to, row!.used_bytes]) }
})

onEveryDatabase("MachineStore", (it) => {
  it.effect(
    "gives a volume back when its machine is gone, not before, and says what is on it where that is known",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(T0)
        const tenant = yield* makeTenant()
        const one = yield* claimed(tenant, "one")
        const other = yield* claimed(tenant, "other")
        const bystander = yield* claimed(tenant, "bystander")
        yield* one.commit({ status: "stopping", stopRequestedAt: T0 }, 7)
        expect(yield* one.volume).toEqual([one.machineId, 3n])
        yield* one.commit({ status: "stopped", stoppedAt: T0 }, 7)
        yield* other.commit({ status: "failed", stoppedAt: T0 })
        expect(yield* one.volume).toEqual([null, 7n])
        expect(yield* other.volume).toEqual([null, 3n])
        expect(yield* bystander.volume).toEqual([bystander.machineId, 3n])
      }).pipe(Effect.provide(TestLayer))
  )

  it.effect("claims the job that is to look, and only tells one that is in a step", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const sql = yield* PgClient.PgClient
      const one = yield* claimed(yield* makeTenant(), "one")
      const { owner } = yield* one.commit({ status: "running" })
      expect(owner).toMatchObject({ id: one.jobId, fence: 1n, events: 1n, hold: 1n })
      const row = sql.unsafe(`select fence, events, wake_at, lease_until from jobs`)
      const before = yield* row
      yield* TestClock.adjust(1_000)
      expect((yield* one.commit({ status: "running", commandStartedAt: T0 })).owner).toBe(undefined)
      expect(yield* row).toEqual([{ ...before[0], events: 2n }])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("takes what the last claim of a machine saw, and has its job looked at once", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const tenant = yield* makeTenant()
      const one = yield* claimed(tenant, "one")
      yield* TestClock.adjust(3_600_000)
      const [again] = yield* (yield* MachineStore).claim(10)
      const gone = { status: "stopped" as const, stoppedAt: T0 }
      const told = yield* Effect.all(
        [one.commit(gone, 7), one.commit({ status: "running" }, null, again), one.commit(gone, 7, again)],
        { concurrency: "unbounded" }
      )
      expect(told.map(({ committed, owner }) => [committed, owner?.id])).toEqual([
        [false, undefined],
        [true, one.jobId],
        [true, undefined]
      ])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("wakes those that wait for room, who has waited longest first", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const store = yield* MachineStore
      const tenant = yield* makeTenant()
      const wait = Effect.fnUntraced(function* (at: number) {
        yield* TestClock.setTime(T0 + at)
        const draft = yield* jobDraft(tenant, { price: 1n, hold: 1n })
        yield* (yield* JobAdmissionStore).admit(draft)
        return draft
      })
      const all = yield* Effect.forEach([5, 3, 1, 0, 2, 4], wait)
      const [newest, , second, unwanted, third, asked] = all
      yield* TestClock.setTime(T0 + 100)
      yield* (yield* JobStore).stop(unwanted!.jobId, "cancelled_by_user")
      yield* sql.unsafe(`update machines set requested_at = created_at where id = $1`, [asked!.machineId])
      const woken = sql.unsafe<{ readonly job_id: string }>(
        `select job_id from machines where wake_at <= $1 and stop_requested_at is null order by created_at`,
        [new Date(T0 + 100)]
      )
      expect(yield* store.wakeWaiting(2)).toBe(2)
      expect((yield* woken).map((row) => row.job_id)).toEqual([second!.jobId, third!.jobId])
      expect(yield* store.wakeWaiting(9)).toBe(2)
      expect((yield* woken).map((row) => row.job_id)).toEqual([second, third, all[1], newest].map((one) => one!.jobId))
    }).pipe(Effect.provide(TestLayer))
  )
})
