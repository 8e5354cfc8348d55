/** A volume that is attached or deleted between the check of a submission and its admission. */
import { assert } from "@effect/vitest"
import { Jobs } from "@sluice/domain/jobs/Jobs"
import { VolumeStore } from "@sluice/domain/storage/VolumeStore"
import { PgClient } from "@effect/sql-pg"
import { defaultWorld } from "@sluice/simulator/world/World"
import { Context, Effect, Layer } from "effect"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { makeTenant } from "@sluice/testing/fixtures/Tenants"
import { virtualFleet } from "@sluice/testing/fixtures/VirtualFleet"

const ID = "01900000-0000-7000-8000-0000000000d1"
const OTHER = "01900000-0000-7000-8000-0000000000d2"

/** Submissions that run `then` after their check of the volume. */
const jobsThatMeet = Effect.fnUntraced(function* (then: Effect.Effect<unknown>) {
  const volumes = yield* VolumeStore
  let met = false
  const meet = Effect.suspend(() => (met ? Effect.void : Effect.sync(() => (met = true)).pipe(Effect.andThen(then))))
  const hooked = VolumeStore.of({
    ...volumes,
    get: (owner, id) => Effect.tap(volumes.get(owner, id), (found) => (found === undefined ? Effect.void : meet))
  })
  const layer = Layer.fresh(Jobs.layer).pipe(Layer.provide(Layer.succeed(VolumeStore, hooked)))
  return Context.get(yield* Layer.build(layer), Jobs)
})

onEveryDatabase("A volume that changes in the same moment", (it) => {
  it.effect("gives the same error as a volume that was attached or missing before the check", () =>
    Effect.gen(function* () {
      const principal = yield* makeTenant({ credit: 100_000_000_000n })
      const sql = yield* PgClient.PgClient
      yield* sql`insert into volumes (id, workspace_id, environment_id, name, region, size_gb, created_at)
        values (${ID}, ${principal.workspaceId}, ${principal.environmentId}, 'v', 'eu-north', 1, ${new Date(0)}::timestamptz)`
      const refusal = Effect.fnUntraced(function* (then: Effect.Effect<unknown>) {
        const jobs = yield* jobsThatMeet(then)
        const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 30, storage_id: ID }
        return (yield* Effect.flip(jobs.submit(principal, job)))._tag
      }, Effect.scoped)
      assert.strictEqual(
        yield* refusal(Effect.orDie(sql`update volumes set attached_to = ${OTHER}::uuid where id = ${ID}`)),
        "VolumeAttached"
      )
      yield* sql`update volumes set attached_to = null where id = ${ID}`
      assert.strictEqual(yield* refusal(Effect.orDie(sql`delete from volumes where id = ${ID}`)), "VolumeNotFound")
    }).pipe(Effect.provide(virtualFleet({ ...defaultWorld, seed: 7 })))
  )
})
