/** Many submissions in one statement are admitted as if one came after the other, and never for money that is not there. */
import { assert } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Replica } from "@sluice/domain/database/Replica"
import { JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { claimedMachine, queuedJob } from "@sluice/domain/jobs/JobDrafts"
import { JobListStore } from "@sluice/domain/jobs/JobListStore"
import * as MachineRow from "@sluice/domain/machines/MachineRow"
import type { Principal } from "@sluice/domain/access/Principal"
import { Crypto, Effect, Exit, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { auditBooks, makeTenant } from "@sluice/testing/fixtures/Tenants"
import { VolumeAttached } from "@sluice/domain/storage/Volume"
import { draft } from "./support/Drafts.ts"

const T0 = Date.UTC(2027, 2, 15)

const TestLayer = Layer.mergeAll(JobAdmissionStore.layer, JobListStore.layer).pipe(
  Layer.provideMerge(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)

const newId = Effect.flatMap(Crypto.Crypto, (crypto) => crypto.randomUUIDv7())

onEveryDatabase("JobAdmissionStore", (it) => {
  it.effect("admits exactly 3 of 200 where the balance covers 3", () =>
    Effect.gen(function* () {
      const store = yield* JobAdmissionStore
      const principal = yield* makeTenant({ credit: 3_500n })
      const drafts = yield* Effect.forEach(Array.from({ length: 200 }), () => draft(principal, 1_000n))
      const exits = yield* Effect.forEach(drafts, (one) => Effect.exit(store.admit(one)), { concurrency: "unbounded" })
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 3)
      const sql = yield* PgClient.PgClient
      const rows = yield* sql.unsafe<{ readonly held: bigint }>(`select held from accounts`)
      assert.deepStrictEqual(rows, [{ held: 3_000n }])
      assert.deepStrictEqual(yield* auditBooks, [])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("answers as one after the other would: a large one that does not fit leaves room for a small one", () =>
    Effect.gen(function* () {
      const store = yield* JobAdmissionStore
      const tenants = [yield* makeTenant({ credit: 10n }), yield* makeTenant({ credit: 7n })]
      const amounts = [6n, 5n, 3n, 8n, 1n, 1n, 2n, 7n, 4n]
      const drafts = yield* Effect.forEach(
        amounts.flatMap((amount) => tenants.map((tenant) => ({ tenant, amount }))),
        (one) => draft(one.tenant, one.amount)
      )
      const exits = yield* Effect.forEach(drafts, (one) => Effect.exit(store.admit(one)), { concurrency: "unbounded" })
      const left = new Map([
        [tenants[0]!.workspaceId, 10n],
        [tenants[1]!.workspaceId, 7n]
      ])
      drafts.forEach((one, i) => {
        const available = left.get(one.workspaceId)!
        const fits = one.hold <= available
        if (fits) left.set(one.workspaceId, available - one.hold)
        assert.strictEqual(Exit.isSuccess(exits[i]!), fits, `${one.hold} of ${available}`)
      })
      assert.deepStrictEqual(yield* auditBooks, [])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("records the same job once, however often it is submitted", () =>
    Effect.gen(function* () {
      const store = yield* JobAdmissionStore
      const one = yield* draft(yield* makeTenant({ credit: 1_000n }), 1_000n)
      // Each run of a request has a machine of its own in mind.
      const runs = yield* Effect.forEach([1, 2, 3], () => Effect.map(newId, (machineId) => ({ ...one, machineId })))
      const answers = yield* Effect.forEach(runs, store.admit, { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.map((answer) => answer.repeated).sort(), [false, true, true])
      assert.deepStrictEqual(yield* auditBooks, [])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("gives a volume to one of those that want it, and refuses a spent budget before all else", () =>
    Effect.gen(function* () {
      const store = yield* JobAdmissionStore
      const sql = yield* PgClient.PgClient
      const principal = yield* makeTenant()
      const volumeId = yield* (yield* Crypto.Crypto).randomUUIDv7()
      yield* sql.unsafe(
        `insert into volumes (id, workspace_id, environment_id, name, region, size_gb, created_at) values ($1, $2, $3, 'v', 'r', 1, $4)`,
        [volumeId, principal.workspaceId, principal.environmentId, new Date(0)]
      )
      const drafts = yield* Effect.forEach([1, 2, 3, 4], () => draft(principal, 1n, volumeId))
      const exits = yield* Effect.forEach(drafts, (one) => Effect.exit(store.admit(one)), { concurrency: "unbounded" })
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
      const taken = Exit.fail(new VolumeAttached({ id: volumeId }))
      for (const exit of exits) if (Exit.isFailure(exit)) assert.deepStrictEqual<unknown>(exit, taken)
      yield* sql.unsafe(`update machines set status = 'stopped'`)
      yield* sql.unsafe(`update volumes set attached_to = null`)
      // Two spellings of one id pass everything that compares texts; the database compares ids.
      const spelled = yield* Effect.forEach([volumeId, volumeId.toUpperCase()], (id) => draft(principal, 1n, id))
      const again = yield* Effect.forEach(spelled, (one) => Effect.exit(store.admit(one)), { concurrency: "unbounded" })
      assert.strictEqual(again.filter(Exit.isSuccess).length, 1)
      const spent = yield* makeTenant({ credit: 0n, budget: 0n })
      const refusal = yield* Effect.flip(store.admit(yield* draft(spent, 1n)))
      assert.strictEqual(refusal._tag, "BudgetReached")
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("records what its caller is answered, and the machine as it is handed on or as it waits", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const store = yield* JobAdmissionStore
      const sql = yield* PgClient.PgClient
      const { id, leaseMs } = yield* Replica
      const principal = yield* makeTenant()
      for (const launch of [true, false]) {
        const drafted = yield* draft(principal, 1n)
        const one = { ...drafted, launch, spec: { ...drafted.spec, capacityWaitMinutes: 7 } }
        const { at } = yield* store.admit(one)
        assert.deepStrictEqual(yield* (yield* JobListStore).find(principal, one.jobId), queuedJob(one, at))
        const [machine] = yield* sql.unsafe<
          MachineRow.MachineRow & { readonly wake_at: Date; readonly lease_by: string; readonly lease_until: Date }
        >(`select * from machines where id = $1`, [one.machineId])
        const { facts, fence, ...rest } = claimedMachine(one, at)
        const recorded = MachineRow.claimedOf(machine!)
        assert.deepStrictEqual(
          { ...recorded, sealed: Uint8Array.from(recorded.sealed!) },
          {
            ...rest,
            facts: launch ? facts : { ...facts, requestedAt: null },
            fence: launch ? fence : 0n
          }
        )
        assert.deepStrictEqual(
          [machine!.lease_by, machine!.lease_until],
          launch ? [id, new Date(T0 + leaseMs)] : [null, null]
        )
        assert.deepStrictEqual(machine!.wake_at, new Date(T0 + (launch ? leaseMs : 30_000)))
        const [job] = yield* sql.unsafe(`select wake_at, lease_by from jobs where id = $1`, [one.jobId])
        assert.deepStrictEqual(job, { wake_at: new Date(T0 + 7 * 60_000), lease_by: null })
      }
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("takes the money, the budget and the volume of the environment that asks, and says what was free", () =>
    Effect.gen(function* () {
      const store = yield* JobAdmissionStore
      const sql = yield* PgClient.PgClient
      const tenant = yield* makeTenant({ credit: 10n })
      const other = yield* makeTenant()
      const volumeId = yield* (yield* Crypto.Crypto).randomUUIDv7()
      yield* sql.unsafe(
        `insert into volumes (id, workspace_id, environment_id, name, region, size_gb, created_at) values ($1, $2, $3, 'v', 'r', 1, $4)`,
        [volumeId, other.workspaceId, other.environmentId, new Date(0)]
      )
      const refused = (principal: Principal, hold: bigint, volume?: string) =>
        Effect.flatMap(draft(principal, hold, volume), (one) => Effect.flip(store.admit(one)))
      const { environmentId } = other
      assert.strictEqual((yield* refused({ ...tenant, environmentId }, 1n))._tag, "BudgetReached")
      assert.strictEqual((yield* refused(tenant, 1n, volumeId))._tag, "VolumeAttached")
      yield* store.admit(yield* draft(tenant, 4n))
      // In one statement, what was admitted just before is not free either.
      const pair = yield* Effect.forEach([5n, 2n], (hold) => draft(tenant, hold))
      const [first, second] = yield* Effect.forEach(pair, (one) => Effect.result(store.admit(one)), {
        concurrency: "unbounded"
      })
      assert.isTrue(Result.isSuccess(first!))
      const failure = Result.isFailure(second!) ? second.failure : undefined
      assert.deepInclude(failure, { _tag: "CreditInsufficient", required: 2n, available: 1n })
    }).pipe(Effect.provide(TestLayer))
  )
})
