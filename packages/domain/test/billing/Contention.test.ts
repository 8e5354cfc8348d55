/** Many statements on one account: each changes the state that it read, so no valid charge is refused. */
import { assert } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Clock, Crypto, Effect, Layer, Option } from "effect"
import { onPostgres } from "@sluice/testing/engines/Databases"
import { auditBooks, makeTenant } from "@sluice/testing/fixtures/Tenants"
import { HoldStore } from "../../src/billing/HoldStore.ts"
import { LedgerStore } from "../../src/billing/LedgerStore.ts"
import { Replica } from "../../src/database/Replica.ts"
import { MeteringStore } from "../../src/metering/MeteringStore.ts"
import type { VideoState } from "../../src/videos/VideoLifecycle.ts"
import type { VideoRow } from "../../src/videos/VideoRow.ts"
import { VideoStore } from "../../src/videos/VideoStore.ts"
import { JobAdmissionStore } from "../../src/jobs/JobAdmissionStore.ts"
import { type ClaimedJob, stateOf } from "../../src/jobs/JobRow.ts"
import { JobStore } from "../../src/jobs/JobStore.ts"
import { jobDraft } from "../jobs/support/Drafts.ts"
import { meterRow } from "./support/Work.ts"

const TestLayer = Layer.mergeAll(HoldStore.layer, LedgerStore.layer, MeteringStore.layer, VideoStore.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(JobAdmissionStore.layer, JobStore.layer)),
  Layer.provideMerge(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)

const ROUNDS = 150
const FILM = { model: "film", prompt: "a wave", size: "1x1", seconds: 1, price: 200n, image: undefined }
const FAILED: VideoState = { status: "failed", percent: 0, failure: "video_generation_failed", reference: null }

onPostgres(
  "Contention",
  (it) => {
    it.effect(
      "holds, extensions, settlements, credits and films of one account never refuse each other wrongly",
      () =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const crypto = yield* Crypto.Crypto
          const [admissions, jobs, holds] = [yield* JobAdmissionStore, yield* JobStore, yield* HoldStore]
          const ledger = yield* LedgerStore
          const metering = yield* MeteringStore
          const videos = yield* VideoStore
          const now = yield* Clock.currentTimeMillis
          const tenant = yield* makeTenant({ credit: 1_000n })
          const request = Effect.gen(function* () {
            const id = yield* crypto.randomUUIDv7()
            const [reserved] = yield* metering.flush([meterRow(tenant, id, false, 300n)], now, now + 60_000)
            if (reserved!.refused !== null) return 0
            yield* metering.flush([meterRow(tenant, id, true, 1n)], now, now + 60_000)
            return 1
          })
          // Holds a part, extends it to the whole balance, and releases it: the balance is near zero all the time.
          const job = Effect.gen(function* () {
            const draft = yield* jobDraft(tenant, { price: 1n, hold: 300n })
            const due = { ...draft, spec: { ...draft.spec, capacityWaitMinutes: 0 } }
            if (Option.isNone(yield* Effect.option(admissions.admit(due)))) return 0
            yield* holds.extend(draft.jobId, 1_000n)
            const end = (row: ClaimedJob) => {
              const state = { ...stateOf(row), status: "failed" as const, endedAt: now }
              return jobs.commit({ row, state, stopMachine: false, settle: 1n, wakeAt: now })
            }
            const ends = yield* Effect.forEach(yield* jobs.claim(10), end, { concurrency: "unbounded" })
            return ends.filter(({ committed }) => committed).length
          })
          // A film that fails costs nothing: its hold is released.
          const film = Effect.gen(function* () {
            const id = yield* crypto.randomUUIDv7()
            const order = { ...FILM, ...tenant, id }
            if ((yield* videos.admit(order)).refused !== null) return 0
            const ends = (row: VideoRow) => videos.commit(row, FAILED, now)
            yield* Effect.forEach(yield* videos.claim(10), ends, { concurrency: "unbounded" })
            return 0
          })
          const worker = (n: number) =>
            Effect.forEach(Array.from({ length: ROUNDS }), (_, i) =>
              n === 0
                ? Effect.as(ledger.credit(tenant.workspaceId, 1n, `c${i}`), 0)
                : n < 4
                  ? job
                  : n < 6
                    ? request
                    : film
            )
          const done = yield* Effect.forEach([0, 1, 2, 3, 4, 5, 6, 7], worker, { concurrency: "unbounded" })
          const served = done.flat().reduce<number>((sum, one) => sum + one, 0)
          assert.isAbove(served, 0)
          assert.deepStrictEqual(yield* auditBooks, [])
          const account = yield* sql.unsafe(`select balance, held from accounts where id = $1`, [tenant.workspaceId])
          assert.deepStrictEqual(account, [{ balance: 1_000n + BigInt(ROUNDS) - BigInt(served), held: 0n }])
        }).pipe(Effect.provide(TestLayer)),
      300_000
    )
  },
  { live: true }
)
