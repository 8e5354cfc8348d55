/** Volumes on both stores: created once per attempt, kept while a machine has them, never smaller (decisions: Storage). */
import { NodeCrypto } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import type { Principal } from "@sluice/domain/access/Principal"
import type { MachineProviderService } from "@sluice/domain/machines/MachineProvider"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { MAX_PER_KIND } from "@sluice/domain/limits/LimitReached"
import { Volumes } from "@sluice/domain/storage/Volumes"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { claimed } from "../idempotency/support/Attempts.ts"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"

const id = (last: number) => `01890a5d-ac96-774b-bcce-b302099a80${50 + last}`
const W = id(0)
const principal = { workspaceId: W, environmentId: W } as Principal
const world = Layer.succeed(MachineProvider, {
  regions: [{ id: "r1", name: "R1", provider: "test" }]
} as unknown as MachineProviderService)
const layer = Volumes.layer.pipe(Layer.provide([world, NodeCrypto.layer]))

const tenancy = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const at = new Date(0)
  yield* sql`insert into workspaces (id, name, created_at) values (${W}, 'w', ${at}::timestamptz)`
  yield* sql`insert into environments (id, workspace_id, name, is_default, month, created_at, wake_at)
    values (${W}, ${W}, 'default', true, '2026-01-01', ${at}::timestamptz, ${at}::timestamptz)`
  return sql
})

onEveryDatabase("Volumes", (it) => {
  it.layer(layer)("", (it) => {
    it.effect("follow the rules of creation, change and deletion", () =>
      Effect.gen(function* () {
        const sql = yield* tenancy
        const volumes = yield* Volumes
        const request = { name: "v", region: "r1", size_gb: 5 }
        const first = yield* claimed(W, id(1))
        const made = yield* volumes.create(principal, request, first)
        expect(yield* volumes.create(principal, request, first)).toEqual(made)
        const second = yield* claimed(W, id(2))
        expect((yield* Effect.flip(volumes.create(principal, request, second)))._tag).toBe("VolumeNameTaken")
        // Another run has the key by now, and may have returned a refusal to its caller.
        const over = yield* claimed(W, id(2), new Date(1), true)
        const free = { ...request, name: "free" }
        expect((yield* Effect.flip(volumes.create(principal, free, second)))._tag).toBe("IdempotencyInProgress")
        expect((yield* volumes.create(principal, free, over)).id).toBe(id(2))
        // Every run gets the existing volume.
        expect((yield* volumes.create(principal, free, second)).id).toBe(id(2))
        yield* sql`delete from volumes where id = ${id(2)}`
        yield* sql`insert into volumes (id, workspace_id, environment_id, name, region, size_gb, created_at)
          select gen_random_uuid(), ${W}, ${W}, 'v' || n, 'r1', 1, now() from generate_series(1, ${MAX_PER_KIND - 1}) as n`
        expect(yield* volumes.create(principal, request, first)).toEqual(made)
        expect(yield* Effect.flip(volumes.create(principal, { ...request, name: "w" }))).toMatchObject({
          _tag: "LimitReached",
          kind: "volumes"
        })
        // The bound of one workspace does not count another's volumes.
        yield* sql`insert into workspaces (id, name, created_at) values (${id(6)}, 'x', now())`
        yield* sql`insert into environments (id, workspace_id, name, is_default, month, created_at, wake_at)
          values (${id(6)}, ${id(6)}, 'default', true, '2026-01-01', now(), now())`
        const other = { ...principal, workspaceId: id(6), environmentId: id(6) }
        expect((yield* volumes.create(other, request)).name).toBe("v")
        yield* sql`delete from volumes where id <> ${id(1)}`
        const nowhere = yield* Effect.flip(volumes.create(principal, { name: "v", region: "r2", size_gb: 0 }))
        expect(nowhere).toMatchObject({
          _tag: "RequestInvalid",
          issues: [
            { path: "size_gb", message: "must be an integer from 1 to 10000" },
            { path: "region", message: "must be one of r1" }
          ]
        })

        expect((yield* volumes.grow(principal, made.id, 5)).sizeGb).toBe(5)
        expect(yield* Effect.flip(volumes.grow(principal, made.id, 4))).toMatchObject({
          _tag: "VolumeShrinks",
          sizeGb: 5
        })
        yield* sql`update volumes set attached_to = ${id(3)}`
        expect((yield* Effect.flip(volumes.remove(principal, made.id)))._tag).toBe("VolumeAttached")
        expect((yield* Effect.flip(volumes.grow(principal, made.id, 6)))._tag).toBe("VolumeAttached")
        expect((yield* volumes.get(principal, made.id)).attachedTo).toBe(id(3))
        yield* sql`update volumes set attached_to = null`
        // Another environment's volume is not found, also where it could be changed and deleted.
        for (const stranger of [
          { ...principal, environmentId: id(4) },
          { ...principal, workspaceId: id(4) }
        ]) {
          expect((yield* Effect.flip(volumes.get(stranger, made.id)))._tag).toBe("VolumeNotFound")
          expect((yield* Effect.flip(volumes.grow(stranger, made.id, 7)))._tag).toBe("VolumeNotFound")
          expect((yield* Effect.flip(volumes.remove(stranger, made.id)))._tag).toBe("VolumeNotFound")
          expect((yield* volumes.list(stranger, { limit: 10, after: undefined })).items).toEqual([])
        }
        expect(yield* volumes.get(principal, made.id)).toEqual({ ...made, attachedTo: null })
        yield* volumes.remove(principal, made.id)
        expect((yield* Effect.flip(volumes.remove(principal, made.id)))._tag).toBe("VolumeNotFound")
        // A retry of the creating POST: the old files still exist, so no volume of that id may be created yet.
        expect((yield* Effect.flip(volumes.create(principal, request, first)))._tag).toBe("VolumeBeingDeleted")
        expect((yield* volumes.create(principal, request)).name).toBe("v")
      })
    )
  })
})
