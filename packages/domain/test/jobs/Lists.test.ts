/** Lists of jobs and machines: filtered, newest first, of the caller's environment alone (decisions: Jobs). */
import { expect } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import type { Principal } from "@sluice/domain/access/Principal"
import { Replica } from "@sluice/domain/database/Replica"
import { JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { type JobFilter, JobListStore } from "@sluice/domain/jobs/JobListStore"
import { MachineListStore } from "@sluice/domain/machines/MachineListStore"
import { Crypto, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { makeTenant } from "@sluice/testing/fixtures/Tenants"
import { jobDraft } from "./support/Drafts.ts"

const T0 = Date.UTC(2027, 2, 15)
const all: JobFilter = {
  status: undefined,
  name: undefined,
  label: undefined,
  createdAfter: undefined,
  createdBefore: undefined
}

const TestLayer = Layer.mergeAll(JobAdmissionStore.layer, JobListStore.layer, MachineListStore.layer).pipe(
  Layer.provide(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)

/** A job created at T0 + `at`, in the given state. */
const make = Effect.fnUntraced(function* (
  tenant: Principal,
  job: { readonly at: number; readonly name: string; readonly status: string; readonly labels?: Record<string, string> }
) {
  const sql = yield* PgClient.PgClient
  yield* TestClock.setTime(T0 + job.at)
  const draft = { ...(yield* jobDraft(tenant, { price: 3_600_000n, hold: 1n })), labels: null, ...job }
  yield* (yield* JobAdmissionStore).admit(draft)
  yield* sql.unsafe(`update jobs set status = $2 where id = $1`, [draft.jobId, job.status])
  return draft
})

onEveryDatabase("Lists", (it) => {
  it.effect("of jobs apply every filter, are newest first, and count their rows", () =>
    Effect.gen(function* () {
      const lists = yield* JobListStore
      const tenant = yield* makeTenant()
      yield* make(tenant, { at: 0, name: "train", status: "running", labels: { team: "a", run: "1" } })
      yield* make(tenant, { at: 1_000, name: "train", status: "queued", labels: { team: "b" } })
      yield* make(tenant, { at: 2_000, name: "eval", status: "running", labels: { team: "a" } })
      const found = Effect.fnUntraced(function* (filter: Partial<JobFilter>) {
        const page = yield* lists.list(tenant, { ...all, ...filter }, { limit: 10, after: undefined })
        expect(page.total).toBe(page.items.length)
        return page.items.map((job) => job.createdAt.getTime() - T0)
      })
      expect(yield* found({})).toEqual([2_000, 1_000, 0])
      expect(yield* found({ status: "running" })).toEqual([2_000, 0])
      expect(yield* found({ name: "train" })).toEqual([1_000, 0])
      expect(yield* found({ name: "trai" })).toEqual([])
      expect(yield* found({ label: ["team", "a"] })).toEqual([2_000, 0])
      expect(yield* found({ label: ["run", "a"] })).toEqual([])
      expect(yield* found({ createdAfter: new Date(T0) })).toEqual([2_000, 1_000])
      expect(yield* found({ createdBefore: new Date(T0 + 2_000) })).toEqual([1_000, 0])
      expect(yield* found({ createdAfter: new Date(T0), createdBefore: new Date(T0 + 2_000) })).toEqual([1_000])
      expect(yield* found({ status: "running", name: "train", label: ["team", "a"] })).toEqual([0])
      const first = yield* lists.list(tenant, { ...all, status: "running" }, { limit: 1, after: undefined })
      expect([first.items.length, first.total, first.next]).toEqual([1, 2, first.items[0]!.id])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("and single look-ups show no other environment, of the same workspace or another", () =>
    Effect.gen(function* () {
      const jobs = yield* JobListStore
      const machines = yield* MachineListStore
      const tenant = yield* makeTenant()
      const elsewhere = yield* (yield* Crypto.Crypto).randomUUIDv7()
      const older = yield* make(tenant, { at: 0, name: "older", status: "running" })
      const { jobId, machineId } = yield* make(tenant, { at: 1, name: "newer", status: "running" })
      const page = { limit: 10, after: undefined }
      expect((yield* jobs.find(tenant, jobId))?.id).toBe(jobId)
      expect((yield* machines.find(tenant, machineId))?.id).toBe(machineId)
      expect((yield* machines.list(tenant, page)).items.map(({ id }) => id)).toEqual([machineId, older.machineId])
      for (const stranger of [
        { ...tenant, environmentId: elsewhere },
        { ...tenant, workspaceId: elsewhere }
      ]) {
        expect(yield* jobs.find(stranger, jobId)).toBe(undefined)
        expect(yield* machines.find(stranger, machineId)).toBe(undefined)
        for (const list of [yield* jobs.list(stranger, all, page), yield* machines.list(stranger, page)]) {
          expect([list.items, list.total]).toEqual([[], 0])
        }
      }
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("of machines show the cost until a machine stopped, and no more", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const machines = yield* MachineListStore
      const tenant = yield* makeTenant()
      const { machineId } = yield* make(tenant, { at: 0, name: "job", status: "running" })
      const cost = Effect.map(machines.find(tenant, machineId), (machine) => machine?.cost)
      expect(yield* cost).toBe(null)
      yield* sql.unsafe(`update machines set status = 'running', running_at = $1`, [new Date(T0)])
      yield* TestClock.setTime(T0 + 5_000)
      expect(yield* cost).toBe(5_000n)
      yield* sql.unsafe(`update machines set status = 'stopped', stopped_at = $1`, [new Date(T0 + 2_000)])
      expect(yield* cost).toBe(2_000n)
    }).pipe(Effect.provide(TestLayer))
  )
})
