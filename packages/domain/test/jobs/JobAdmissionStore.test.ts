/** Many submissions in one statement are admitted as if one came after the other, and never for money that is not there. */
import { assert } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Replica } from "@sluice/domain/database/Replica"
import { type Admission, JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import type { Principal } from "@sluice/domain/access/Principal"
import { Crypto, Effect, Exit, Layer } from "effect"
import { onEveryDatabase } from "../../../../test/support/Databases.ts"
import { auditBooks, makeTenant } from "../../../../test/support/Tenants.ts"

const TestLayer = JobAdmissionStore.layer.pipe(
  Layer.provideMerge(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)

const draft = Effect.fnUntraced(function* (principal: Principal, hold: bigint, volumeId?: string) {
  const crypto = yield* Crypto.Crypto
  const jobId = yield* crypto.randomUUIDv7()
  const spec = {
    command: "true",
    gpuType: "H100",
    gpuCount: 1,
    template: "ubuntu-devbox",
    image: null,
    envKeys: [],
    maxRuntimeMinutes: 1,
    capacityWaitMinutes: 1,
    maxCostNanoUsd: null,
    region: null
  }
  const admission: Admission = {
    jobId,
    machineId: yield* crypto.randomUUIDv7(),
    workspaceId: principal.workspaceId,
    environmentId: principal.environmentId,
    volumeId,
    name: "job",
    spec,
    machineSpec: { ...spec, variables: {} },
    labels: { team: "a" },
    sealed: new Uint8Array([0, 255, 7]),
    price: 1_000n,
    hold,
    launch: true
  }
  return admission
})

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
      const answers = yield* Effect.forEach([1, 2, 3], () => store.admit(one), { concurrency: "unbounded" })
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
})
