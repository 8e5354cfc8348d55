/** The simulated machines keep the promises of the port on both stores, outlive their server, and show no secret. */
import { expect } from "@effect/vitest"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { Clock, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { Shell } from "@sluice/machine-shell/Shell"
import { defaultWorld, instantWorld } from "../../src/world/World.ts"
import type { World } from "../../src/world/World.ts"
import { exited, lookUntil, readAll, specOf, started, stopped } from "@sluice/testing/conformance/MachineDriver"
import { machineProviderConformance } from "@sluice/testing/conformance/MachineProviderConformance"
import { worldLayer } from "../support/Worlds.ts"

const pass = (ms: number) => TestClock.adjust(ms)
const inWorld = <A, E, R>(world: World, body: Effect.Effect<A, E, R>, shell?: Layer.Layer<Shell>) =>
  Effect.provide(body, worldLayer(world, shell), { local: true })

onEveryDatabase("simulated machines", (it) => {
  machineProviderConformance("the default world", {
    it,
    layer: Layer.fresh(worldLayer(defaultWorld)),
    gpuType: "H100",
    pass
  })

  it.effect("a launch takes at most 30 s, and is billed from the moment the machine runs", () =>
    inWorld(
      defaultWorld,
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        for (let i = 0; i < 8; i++) {
          const launchedAt = yield* Clock.currentTimeMillis
          yield* provider.launch(specOf(`m${i}`, "sleep 60"))
          const { state } = yield* lookUntil(provider, pass, `m${i}`, started)
          if (state._tag !== "Running" || state.command._tag !== "Started") return expect.unreachable()
          expect(state.since - launchedAt).toBeGreaterThanOrEqual(3_000)
          expect(state.since - launchedAt).toBeLessThanOrEqual(12_000)
          expect(state.command.startedAt - state.since).toBeGreaterThanOrEqual(1_000)
          expect(state.command.startedAt - state.since).toBeLessThanOrEqual(4_000)
        }
      })
    )
  )

  it.effect("a world can refuse launches of a GPU type", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(
        inWorld(
          { ...defaultWorld, refuse: ["H100"] },
          Effect.flatMap(MachineProvider, (p) => p.launch(specOf("a", "true")))
        )
      )
      expect(refused).toMatchObject({ _tag: "LaunchRefused", reason: expect.stringContaining("H100") })
    })
  )

  it.effect("the world outlives its server: another server sees the same machine, output and files", () =>
    Effect.gen(function* () {
      const command =
        "echo $RANDOM $(date +%s%N) $SECONDS; (sleep 5; echo job $RANDOM) & sleep 10; ls -la; nvidia-smi; mktemp; cat count; echo x >> count; wait"
      const look = Effect.gen(function* () {
        const provider = yield* MachineProvider
        const { state } = yield* lookUntil(provider, pass, "a", exited)
        return { state, output: (yield* readAll(provider, "a")).toString("hex") }
      })
      const first = yield* inWorld(
        defaultWorld,
        Effect.gen(function* () {
          const provider = yield* MachineProvider
          yield* provider.launch(specOf("z", "echo x > count", { volumeId: "v" }))
          yield* lookUntil(provider, pass, "z", exited)
          yield* provider.stop("z")
          yield* lookUntil(provider, pass, "z", stopped)
          yield* provider.launch(specOf("a", command, { volumeId: "v" }))
          yield* provider.launch(specOf("b", command))
          return yield* look
        })
      )
      // Another seed and other latencies: living machines keep the values of their launch.
      const changed = { ...defaultWorld, seed: 99, launchMs: [0, 0] as const }
      expect(yield* inWorld(changed, look)).toEqual(first)
      yield* inWorld(
        changed,
        Effect.gen(function* () {
          const provider = yield* MachineProvider
          yield* provider.stop("a")
          yield* lookUntil(provider, pass, "a", stopped)
        })
      )
      // The machine's volume has changed since, but not its run.
      const last = yield* inWorld(
        changed,
        Effect.flatMap(MachineProvider, (provider) => readAll(provider, "a"))
      )
      expect(last.toString("hex")).toBe(first.output)
      expect(last.toString()).toContain("\nx\n")
    })
  )

  it.effect("a command can have any characters, and an unknown region is no preference", () =>
    inWorld(
      instantWorld,
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        yield* provider.launch(specOf("a", "echo a\u0000b \ud800", { region: "no\u0000where" }))
        yield* lookUntil(provider, pass, "a", exited)
        expect((yield* readAll(provider, "a")).toString()).toMatch(/^a/)
      })
    )
  )

  it.effect("no secret is in any table of the world", () =>
    inWorld(
      defaultWorld,
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        const sql = yield* SqlClient.SqlClient
        const env = new Map([["TOKEN", Redacted.make("canary-5f1e")]])
        yield* provider.launch(specOf("a", "echo $TOKEN | wc -c", { env, volumeId: "v" }))
        yield* lookUntil(provider, pass, "a", exited)
        yield* provider.stop("a")
        yield* lookUntil(provider, pass, "a", stopped)
        const canaries = [
          "canary-5f1e",
          Buffer.from("canary-5f1e").toString("hex"),
          Buffer.from("canary-5f1e").toString("base64").slice(0, 12)
        ]
        const tables = yield* sql<{
          readonly name: string
        }>`select tablename as name from pg_tables where tablename like 'sim\\_%'`
        expect(tables.length).toBeGreaterThan(3)
        for (const { name } of tables) {
          const rows = yield* sql<{ readonly row: string }>`select t::text as row from ${sql(name)} t`
          for (const { row } of rows) for (const canary of canaries) expect(row).not.toContain(canary)
        }
        expect((yield* readAll(provider, "a")).toString().trim()).toBe("12")
      })
    )
  )

  it.effect("deleting a volume deletes every version, also those of machines that are not released", () =>
    inWorld(
      instantWorld,
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        const sql = yield* SqlClient.SqlClient
        for (const key of ["a", "b"]) {
          yield* provider.launch(specOf(key, "echo x >> f", { volumeId: "v" }))
          yield* lookUntil(provider, pass, key, exited)
          yield* provider.stop(key)
          yield* lookUntil(provider, pass, key, stopped)
        }
        const left = Effect.map(sql`select from sim_files union all select from sim_volumes`, (rows) => rows.length)
        expect(yield* left).toBe(3)
        yield* provider.deleteVolume("v")
        expect(yield* left).toBe(0)
      })
    )
  )

  it.effect("a stop wakes a follower", () =>
    inWorld(
      defaultWorld,
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        yield* provider.launch(specOf("a", "echo one; sleep 1000; echo two"))
        const follower = yield* Effect.forkChild(Stream.runCollect(provider.follow("a", 0)))
        yield* lookUntil(provider, pass, "a", started)
        yield* pass(31_000)
        yield* provider.stop("a")
        const outputs = yield* Fiber.join(follower)
        expect(Buffer.concat(outputs.map((output) => output.bytes)).toString()).toBe("one\n")
      })
    )
  )

  it.effect("an instant world launches without waiting for the shell", () => {
    const stuck = Layer.succeed(Shell, { run: () => Effect.never })
    return inWorld(
      instantWorld,
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        const specs = Array.from({ length: 500 }, (_, i) => specOf(`m${i}`, "true"))
        const seen = yield* Effect.forEach(specs, (spec) => provider.launch(spec), { concurrency: "unbounded" })
        for (const { state, nextAt } of seen) {
          expect(state).toMatchObject({ _tag: "Running", command: { _tag: "Started" } })
          expect(nextAt).toBe(null)
        }
        expect((yield* provider.list).length).toBe(500)
      }),
      stuck
    )
  })
})
