/** Deletion of volumes at the provider: every deleted volume is deleted there, through failures and crashes, and no other. */
import { NodeCrypto } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import {
  MachineProvider,
  type MachineProviderService,
  ProviderUnavailable
} from "@sluice/domain/machines/MachineProvider"
import { Volumes } from "@sluice/domain/storage/Volumes"
import { VolumeStore } from "@sluice/domain/storage/VolumeStore"
import { VolumeSweep } from "@sluice/domain/storage/VolumeSweep"
import migration from "@sluice/domain/database/migrations/0010_volume_deletions"
import { Clock, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { claimed } from "../idempotency/support/Attempts.ts"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { openWorkspace, replica } from "@sluice/testing/fixtures/Workspace"

const id = (n: number) => `01890a5d-ac96-774b-bcce-${n.toString(16).padStart(12, "0")}`
const MINUTE = 60_000

type Answer = "done" | "fails" | "hangs"

/** Two replicas before one provider that answers as `next` says; `asked` records its deletions. */
const setUp = Effect.gen(function* () {
  const world = { asked: [] as Array<string>, next: "done" as Answer, called: yield* Deferred.make<void>() }
  const provider = {
    regions: [{ id: "r1", name: "R1", provider: "test" }],
    deleteVolume: (volumeId: string) =>
      Effect.suspend(() => {
        world.asked.push(volumeId)
        Deferred.doneUnsafe(world.called, Effect.void)
        if (world.next === "hangs") return Effect.never
        return world.next === "done" ? Effect.void : Effect.fail(new ProviderUnavailable({ cause: "no answer" }))
      })
  } as unknown as MachineProviderService
  const layer = Layer.mergeAll(Volumes.layer, VolumeSweep.layer.pipe(Layer.provide(VolumeStore.layer))).pipe(
    Layer.provide([Layer.succeed(MachineProvider, provider), NodeCrypto.layer, replica])
  )
  const built = Effect.context<Volumes | VolumeSweep>().pipe(Effect.provide(layer, { local: true }))
  const [one, two] = [yield* built, yield* built]
  const volumes = yield* Effect.provide(Volumes, one)
  const principal = yield* openWorkspace(1, 0n)
  const make = (n: number) =>
    Effect.flatMap(claimed(principal.workspaceId, id(n)), (attempt) =>
      volumes.create(principal, { name: `v${n}`, region: "r1", size_gb: 1 }, attempt)
    )
  const sql = yield* SqlClient.SqlClient
  return {
    world,
    principal,
    volumes,
    make,
    sweep: Effect.flatMap(Effect.provide(VolumeSweep, one), ({ sweep }) => sweep),
    sweepOfAnother: Effect.flatMap(Effect.provide(VolumeSweep, two), ({ sweep }) => sweep),
    pending: Effect.map(sql<{ readonly id: string }>`select id from volume_deletions order by id`, (rows) =>
      rows.map((row) => row.id)
    ),
    sql
  }
})

onEveryDatabase("VolumeSweep", (it) => {
  it.effect("makes the provider delete each deleted volume once, and no other", () =>
    Effect.gen(function* () {
      const { make, pending, principal, sql, sweep, volumes, world } = yield* setUp
      for (const n of [1, 2, 3]) yield* make(n)
      yield* sql`update volumes set attached_to = ${id(9)} where id = ${id(3)}`
      yield* Effect.flip(volumes.remove(principal, id(3)))
      yield* volumes.remove(principal, id(1))
      // The caller has its answer, the provider has no request yet, and the row alone records the deletion.
      expect([world.asked, yield* pending]).toEqual([[], [id(1)]])
      expect(yield* sweep).toBe(1)
      expect(yield* sweep).toBe(0)
      expect([world.asked, yield* pending]).toEqual([[id(1)], []])
      expect((yield* volumes.list(principal, { limit: 9, after: undefined })).items.length).toBe(2)
    })
  )

  it.effect("retries after a failure, with a growing pause", () =>
    Effect.gen(function* () {
      const { make, pending, principal, sweep, volumes, world } = yield* setUp
      yield* make(1)
      yield* volumes.remove(principal, id(1))
      world.next = "fails"
      expect(yield* sweep).toBe(0)
      expect(yield* sweep).toBe(0)
      expect([world.asked, yield* pending]).toEqual([[id(1)], [id(1)]])
      world.next = "done"
      yield* TestClock.adjust(MINUTE)
      expect(yield* sweep).toBe(1)
      expect([world.asked, yield* pending]).toEqual([[id(1), id(1)], []])
    })
  )

  it.effect("a server that dies during the call leaves the volume to another server", () =>
    Effect.gen(function* () {
      const { make, pending, principal, sweep, sweepOfAnother, volumes, world } = yield* setUp
      yield* make(1)
      yield* volumes.remove(principal, id(1))
      world.next = "hangs"
      const dying = yield* Effect.forkChild(sweep)
      yield* Deferred.await(world.called)
      yield* Fiber.interrupt(dying)
      world.next = "done"
      yield* TestClock.adjust(MINUTE)
      expect(yield* sweepOfAnother).toBe(1)
      expect([world.asked, yield* pending]).toEqual([[id(1), id(1)], []])
    })
  )

  it.effect("two replicas that sweep at once send one deletion per volume", () =>
    Effect.gen(function* () {
      const { make, pending, principal, sweep, sweepOfAnother, volumes, world } = yield* setUp
      const all = Array.from({ length: 80 }, (_, n) => n + 1)
      for (const n of all) yield* make(n)
      for (const n of all) yield* volumes.remove(principal, id(n))
      const swept = yield* Effect.all([sweep, sweepOfAnother], { concurrency: 2 })
      expect(swept[0] + swept[1]).toBe(80)
      expect(world.asked.toSorted()).toEqual(all.map(id))
      expect(yield* pending).toEqual([])
    })
  )

  it.effect("an old attempt can't create its volume again before the deletion has ended", () =>
    Effect.gen(function* () {
      const { make, principal, sweep, volumes, world } = yield* setUp
      yield* make(1)
      yield* volumes.remove(principal, id(1))
      expect(Exit.isFailure(yield* Effect.exit(make(1)))).toBe(true)
      yield* sweep
      expect((yield* make(1)).id).toBe(id(1))
      yield* TestClock.adjust(10 * MINUTE)
      expect(yield* sweep).toBe(0)
      expect(world.asked).toEqual([id(1)])
    })
  )

  it.effect("never requests the deletion of an existing volume", () =>
    Effect.gen(function* () {
      const { make, pending, principal, sql, sweep, volumes, world } = yield* setUp
      yield* make(1)
      const now = new Date(yield* Clock.currentTimeMillis)
      yield* sql`insert into volume_deletions (id, deleted_at, wake_at) values (${id(1)}, ${now}, ${now})`
      expect(yield* sweep).toBe(0)
      yield* volumes.remove(principal, id(1))
      expect(yield* sweep).toBe(1)
      expect([world.asked, yield* pending]).toEqual([[id(1)], []])
    })
  )

  it.effect("volumes that were deleted without a request to the provider are deleted there too", () =>
    Effect.gen(function* () {
      const { make, pending, principal, sql } = yield* setUp
      yield* make(1)
      for (const n of [1, 2, 2]) {
        yield* sql`insert into machines (id, workspace_id, environment_id, name, status, spec, price, volume_id, created_at, wake_at)
          values (gen_random_uuid(), ${principal.workspaceId}, ${principal.environmentId}, 'm', 'stopped', '{}', 1, ${id(n)}, 'epoch', 'epoch')`
      }
      yield* migration
      yield* migration
      expect(yield* pending).toEqual([id(2)])
    })
  )
})
