/** The capacity of a world: no two launches get the same GPU, also from different servers. */
import { expect } from "@effect/vitest"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { specOf } from "@sluice/testing/conformance/MachineDriver"
import { defaultWorld, instantWorld, type World } from "../../src/world/World.ts"
import { worldLayer } from "../support/Worlds.ts"

const pass = (ms: number) => TestClock.adjust(ms)
const inWorld = <A, E, R>(world: World, body: Effect.Effect<A, E, R>) =>
  Effect.provide(body, worldLayer(world), { local: true })

onEveryDatabase("simulated capacity", (it) => {
  it.effect("launches take capacity, stopped machines free it, and it is never exceeded", () => {
    const world = {
      ...defaultWorld,
      gpuTypes: [{ ...defaultWorld.gpuTypes[0]!, capacity: { "eu-north": 4, "us-east": 4 } }]
    }
    return inWorld(
      world,
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        const free = Effect.map(provider.gpuTypes, (types) => types[0]!.available)
        const launch = (key: string, gpuCount: number) =>
          Effect.exit(provider.launch(specOf(key, "sleep 9", { gpuCount, region: "us-east" })))
        expect(yield* free).toBe(8)
        const exits = yield* Effect.forEach(["a", "b", "c", "d", "e"], (key) => launch(key, 3), { concurrency: 5 })
        expect(exits.filter((exit) => exit._tag === "Success").length).toBe(2)
        expect(yield* free).toBe(2)
        expect((yield* launch("f", 2))._tag).toBe("Failure")
        yield* provider.stop("a")
        expect((yield* launch("f", 3))._tag).toBe("Failure")
        yield* pass(2_000)
        expect(yield* free).toBe(5)
        expect((yield* launch("f", 3))._tag).toBe("Success")
        yield* provider.stop("b")
        yield* provider.stop("f")
        yield* pass(2_000)
        for (const key of ["a", "b", "f", "f"]) yield* provider.release(key)
        expect(yield* free).toBe(8)
      })
    )
  })

  it.effect("two servers on one world launch each key once and never exceed its capacity", () => {
    const world = { ...instantWorld, gpuTypes: defaultWorld.gpuTypes }
    const half = Effect.gen(function* () {
      const provider = yield* MachineProvider
      const specs = Array.from({ length: 120 }, (_, i) =>
        specOf(`m${i}`, `echo ${i}`, { gpuType: defaultWorld.gpuTypes[i % 5]!.id, gpuCount: 1 + (i % 2) })
      )
      const exits = yield* Effect.forEach(specs, (spec) => Effect.exit(provider.launch(spec)), { concurrency: 40 })
      return exits.map((exit) => exit._tag)
    })
    return Effect.gen(function* () {
      const [one, two] = yield* Effect.all([inWorld(world, half), inWorld(world, half)], { concurrency: 2 })
      const sql = yield* SqlClient.SqlClient
      const launched = yield* sql<{ readonly key: string }>`select key from sim_machines`
      expect(launched.map((row) => row.key).sort()).toEqual(
        one.flatMap((tag, i) => (tag === "Success" || two[i] === "Success" ? [`m${i}`] : [])).sort()
      )
      const wrong = yield* sql`select * from sim_capacity c where used > total or used <> coalesce((
        select sum(gpu_count) from sim_machines m where m.gpu_type = c.gpu_type and m.region = c.region), 0)`
      expect(wrong).toEqual([])
      expect(launched.length).toBeGreaterThan(50)
    })
  })
})
