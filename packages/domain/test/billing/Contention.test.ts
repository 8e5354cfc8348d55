/** Many statements at one account: what they see of it is what they change, so that no true balance is refused. */
import { assert } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Clock, Crypto, Effect, Layer } from "effect"
import { onPostgres } from "../../../../test/support/Databases.ts"
import { auditBooks, makeTenant } from "../../../../test/support/Tenants.ts"
import { HoldStore } from "../../src/billing/HoldStore.ts"
import { LedgerStore } from "../../src/billing/LedgerStore.ts"
import { Replica } from "../../src/database/Replica.ts"
import { MeteringStore } from "../../src/inference/MeteringStore.ts"
import type { VideoState } from "../../src/inference/VideoLifecycle.ts"
import type { VideoRow } from "../../src/inference/VideoRow.ts"
import { VideoStore } from "../../src/inference/VideoStore.ts"
import { meterRow } from "./support/Work.ts"

const TestLayer = Layer.mergeAll(HoldStore.layer, LedgerStore.layer, MeteringStore.layer, VideoStore.layer).pipe(
  Layer.provideMerge(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)

const ROUNDS = 150
const FILM = { model: "film", prompt: "a wave", size: "1x1", seconds: 1, price: 200n, picture: undefined }
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
          const holds = yield* HoldStore
          const ledger = yield* LedgerStore
          const metering = yield* MeteringStore
          const videos = yield* VideoStore
          const now = yield* Clock.currentTimeMillis
          const tenant = yield* makeTenant({ credit: 1_000n })
          // Holds a part, grows it to all there is, and gives it back: the account is at its edge all the time.
          const request = Effect.gen(function* () {
            const id = yield* crypto.randomUUIDv7()
            const [reserved] = yield* metering.flush([meterRow(tenant, id, false, 300n)], now, now + 60_000)
            if (reserved!.refused !== null) return 0
            yield* holds.extend(id, 1_000n)
            yield* metering.flush([meterRow(tenant, id, true, 1n)], now, now + 60_000)
            return 1
          })
          // A film that fails costs nothing: what was held for it is free again.
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
              n === 0 ? Effect.as(ledger.credit(tenant.workspaceId, 1n, `c${i}`), 0) : n < 6 ? request : film
            )
          const done = yield* Effect.forEach([0, 1, 2, 3, 4, 5, 6, 7], worker, { concurrency: "unbounded" })
          const served = done.flat().reduce<number>((sum, one) => sum + one, 0)
          assert.isAbove(served, 0)
          assert.deepStrictEqual(yield* auditBooks, [])
          const account = yield* sql.unsafe(`select balance, held from accounts where id = $1`, [tenant.workspaceId])
          assert.deepStrictEqual(account, [{ balance: 1_000n + BigInt(ROUNDS) - BigInt(served), held: 0n }])
        }).pipe(Effect.provide(TestLayer)),
      60_000
    )
  },
  { live: true }
)
