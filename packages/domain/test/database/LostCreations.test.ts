/** Creations whose connection is lost after the commit: each is made once, and the answer is the resource or its possible id. */
import { expect } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { AccessStore } from "@sluice/domain/access/AccessStore"
import { Replica } from "@sluice/domain/database/Replica"
import { Signals } from "@sluice/domain/database/Signals"
import { isOutcomeUnknown } from "@sluice/domain/database/StoreFailure"
import { VideoStore } from "@sluice/domain/videos/VideoStore"
import { JobAdmissionStore } from "@sluice/domain/jobs/JobAdmissionStore"
import { VolumeStore } from "@sluice/domain/storage/VolumeStore"
import { Crypto, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { losing } from "@sluice/testing/engines/LostAnswers"
import { auditBooks, makeTenant } from "@sluice/testing/fixtures/Tenants"
import { draft } from "../jobs/support/Drafts.ts"

const losses = { left: 0, of: /insert into (jobs|videos|volumes|api_keys)\b/ }
const layer = Layer.mergeAll(JobAdmissionStore.layer, VideoStore.layer, VolumeStore.layer, AccessStore.layer).pipe(
  Layer.provide([losing(losses), Signals.layer]),
  Layer.provideMerge(Replica.layer({ speed: 1 })),
  Layer.provideMerge(NodeServices.layer)
)
const newId = Effect.flatMap(Crypto.Crypto, (crypto) => crypto.randomUUIDv7())
const rows = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<{ readonly id: string }>(`select id from ${table}`)).pipe(
    Effect.map((found) => found.map(({ id }) => id))
  )
/** Runs an effect while the next answers are lost; `lost`: the outcome is unknown. */
const losingNext = <A, E, R>(left: number, creation: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    losses.left = left
    const end = Effect.catchDefect(creation, (defect) =>
      isOutcomeUnknown(defect) ? Effect.succeed("lost") : Effect.die(defect)
    )
    return Effect.ensuring(
      end,
      Effect.sync(() => (losses.left = 0))
    )
  })

onEveryDatabase(
  "A creation whose answer is lost",
  (it) => {
    for (const [left, lost] of [
      [1, false],
      [2, false],
      [9, true]
    ] as const) {
      it.effect(`is one new job (${left})`, () =>
        Effect.gen(function* () {
          const one = yield* draft(yield* makeTenant({ credit: 1_500n }), 1_000n)
          const end = yield* losingNext(left, (yield* JobAdmissionStore).admit(one))
          expect(end).toEqual(lost ? "lost" : { repeated: false, at: expect.any(Number) })
          expect(yield* rows("jobs")).toEqual([one.jobId])
          expect(yield* rows("machines")).toEqual([one.machineId])
          expect(yield* auditBooks).toEqual([])
        }).pipe(Effect.provide(layer))
      )

      it.effect(`is one video (${left})`, () =>
        Effect.gen(function* () {
          const { environmentId, keyId, workspaceId } = yield* makeTenant({ credit: 60n })
          const id = yield* newId
          const order = { id, workspaceId, environmentId, keyId, price: 40n, image: undefined }
          const film = { ...order, model: "film", prompt: "a harbour", size: "640x368", seconds: 4 }
          const end = yield* losingNext(left, (yield* VideoStore).admit(film))
          expect(end).toEqual(lost ? "lost" : { refused: null, available: 20n })
          expect(yield* rows("videos")).toEqual([id])
          expect(yield* auditBooks).toEqual([])
        }).pipe(Effect.provide(layer))
      )

      it.effect(`is one volume (${left})`, () =>
        Effect.gen(function* () {
          const tenant = yield* makeTenant()
          const id = yield* newId
          const volume = { id, name: "v", region: "r", sizeGb: 1 }
          const end = yield* losingNext(left, (yield* VolumeStore).insert(tenant, volume, new Date(0)))
          if (lost) expect(end).toBe("lost")
          else expect(end).toMatchObject(volume)
          expect(yield* rows("volumes")).toEqual([id])
        }).pipe(Effect.provide(layer))
      )

      it.effect(`is one key (${left})`, () =>
        Effect.gen(function* () {
          const { workspaceId } = yield* makeTenant()
          const id = yield* newId
          const key = { id, workspaceId, name: "k", prefix: "p", hash: "00", scopes: null, environmentId: null }
          const end = yield* losingNext(left, (yield* AccessStore).insert({ ...key, rateLimitRpm: 1 }, new Date(0)))
          if (lost) expect(end).toBe("lost")
          else expect(end).toMatchObject({ id, name: "k" })
          expect(yield* rows("api_keys")).toEqual([id])
        }).pipe(Effect.provide(layer))
      )
    }
  },
  { live: true }
)
