/**
 * The runs of commands are bounded: the run of a released machine is interrupted, and the memory of a run counts as a
 * whole.
 */
import { expect, it } from "@effect/vitest"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { Shell } from "@sluice/machine-shell/Shell"
import type { Timeline } from "@sluice/machine-shell/Shell"
import { instantWorld } from "../../src/world/World.ts"
import { specOf } from "@sluice/testing/conformance/MachineDriver"
import { worldLayer } from "../support/Worlds.ts"

interface Counted {
  started: number
  interrupted: number
  /** Marks the last run as one that takes the host long. */
  slow: (() => void) | undefined
}

/** A shell that counts the runs that started and those that were interrupted. */
const counting = (run: Effect.Effect<Timeline>, patience: Effect.Effect<void> = Effect.never) => {
  const counted: Counted = { started: 0, interrupted: 0, slow: undefined }
  const shell = Layer.succeed(Shell, {
    patience,
    run: (_, slow) =>
      Effect.suspend(() => {
        counted.started++
        counted.slow = slow
        return Effect.onInterrupt(run, () => Effect.sync(() => counted.interrupted++))
      })
  })
  return { counted, world: Layer.provide(worldLayer(instantWorld, shell), ownPglite) }
}

const end = (key: string) =>
  Effect.gen(function* () {
    const provider = yield* MachineProvider
    yield* provider.stop(key)
    yield* TestClock.adjust(1)
    yield* provider.release(key)
  })

it.effect("the runs of released machines are interrupted, and free their places for other runs", () => {
  const { counted, world } = counting(Effect.never)
  return Effect.gen(function* () {
    const provider = yield* MachineProvider
    const keys = Array.from({ length: 300 }, (_, i) => `m${i}`)
    yield* Effect.forEach(keys, (key) => provider.launch(specOf(key, "sleep 9")), { concurrency: "unbounded" })
    expect(counted).toMatchObject({ started: 256, interrupted: 0 })
    yield* Effect.forEach(keys, end, { concurrency: "unbounded" })
    expect(counted).toMatchObject({ started: 256, interrupted: 256 })
    yield* provider.launch(specOf("next", "sleep 9"))
    yield* Effect.yieldNow
    expect(counted.started).toBe(257)
  }).pipe(Effect.provide(world))
})

it.effect("a read fails when its machine is released meanwhile, and a retry finds the machine stopped", () => {
  const { world } = counting(Effect.never)
  return Effect.gen(function* () {
    const provider = yield* MachineProvider
    yield* provider.launch(specOf("a", "sleep 9"))
    const reader = yield* Effect.forkChild(provider.read("a", 0, 100), { startImmediately: true })
    yield* end("a")
    expect(yield* Effect.flip(Fiber.join(reader))).toMatchObject({ _tag: "ProviderUnavailable" })
    expect((yield* provider.read("a", 0, 100)).bytes.length).toBe(0)
    expect((yield* provider.observe("a")).state._tag).toBe("Stopped")
  }).pipe(Effect.provide(world))
})

it.effect("many short lines count with their memory, so that the least recently used runs are evicted", () => {
  const chunks = Array.from({ length: 100_000 }, (_, at) => ({ at, bytes: new Uint8Array(1) }))
  const { counted, world } = counting(Effect.succeed({ chunks, exit: null, files: [], overran: false }))
  return Effect.gen(function* () {
    const provider = yield* MachineProvider
    const keys = Array.from({ length: 20 }, (_, i) => `m${i}`)
    for (const key of keys) {
      yield* provider.launch(specOf(key, "sleep 9"))
      yield* provider.observe(key)
    }
    expect(counted.started).toBe(20)
    yield* provider.observe("m19")
    expect(counted.started).toBe(20)
    yield* provider.observe("m0")
    expect(counted.started).toBe(21)
  }).pipe(Effect.provide(world))
})

it.effect("a slow run does not block observations of its machine, which runs until a stop", () => {
  const { counted, world } = counting(Effect.never, Effect.void)
  return Effect.gen(function* () {
    const provider = yield* MachineProvider
    yield* provider.launch(specOf("a", "sleep 9"))
    expect(yield* provider.observe("a")).toMatchObject({
      state: { _tag: "Running", command: { _tag: "Started" } },
      nextAt: null
    })
    expect((yield* provider.read("a", 0, 100)).bytes.length).toBe(0)
    yield* TestClock.adjust(5_000)
    yield* provider.stop("a")
    yield* TestClock.adjust(1)
    // The output may still come, and no reader polls again after its end.
    const reader = yield* Effect.forkChild(provider.read("a", 0, 100), { startImmediately: true })
    yield* TestClock.adjust(60_000)
    expect(reader.pollUnsafe()).toBe(undefined)
    counted.slow?.()
    expect((yield* Fiber.join(reader)).bytes.length).toBe(0)
    expect((yield* provider.observe("a")).state).toMatchObject({
      _tag: "Stopped",
      stoppedAt: 5_000,
      command: { _tag: "Exited", exitedAt: 5_000, code: null, why: "stopped" }
    })
    yield* provider.release("a")
    expect(counted).toMatchObject({ started: 1, interrupted: 1 })
  }).pipe(Effect.provide(world))
})

it.effect("a timeline that is ready late still decides the state of its machine", () => {
  const timeline = { chunks: [{ at: 1_000, bytes: Buffer.from("done\n") }], exit: { at: 2_000, code: 3 } }
  const made = Effect.as(Effect.sleep(60_000), { ...timeline, files: [], overran: false })
  const { counted, world } = counting(made, Effect.sleep(1_000))
  return Effect.gen(function* () {
    const provider = yield* MachineProvider
    yield* provider.launch(specOf("a", "exit 3"))
    const first = yield* Effect.forkChild(provider.observe("a"), { startImmediately: true })
    yield* TestClock.adjust(1_000)
    expect((yield* Fiber.join(first)).state).toMatchObject({ _tag: "Running", command: { _tag: "Started" } })
    // After one timeout a reader waits no more.
    expect((yield* provider.observe("a")).nextAt).toBe(null)
    yield* TestClock.adjust(59_000)
    expect((yield* provider.observe("a")).state).toMatchObject({
      command: { _tag: "Exited", exitedAt: 2_000, code: 3, why: "exit" }
    })
    expect(Buffer.from((yield* provider.read("a", 0, 100)).bytes).toString()).toBe("done\n")
    expect(counted).toMatchObject({ started: 1, interrupted: 0 })
  }).pipe(Effect.provide(world))
})
