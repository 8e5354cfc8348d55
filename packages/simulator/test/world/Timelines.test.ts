/** The runs of commands are bounded: what a released machine still ran is broken off, and what is kept is counted whole. */
import { expect, it } from "@effect/vitest"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ownPglite } from "../../../../test/support/Databases.ts"
import { Shell } from "../../src/shell/Shell.ts"
import type { Timeline } from "../../src/shell/Shell.ts"
import { instantWorld } from "../../src/world/World.ts"
import { specOf } from "../support/MachineDriver.ts"
import { worldLayer } from "../support/Worlds.ts"

/** A shell that says how many runs it began and how many were broken off. */
const counting = (run: Effect.Effect<Timeline>) => {
  const counted = { begun: 0, brokenOff: 0 }
  const shell = Layer.succeed(Shell, {
    run: () =>
      Effect.suspend(() => {
        counted.begun++
        return Effect.onInterrupt(run, () => Effect.sync(() => counted.brokenOff++))
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

it.effect("the runs of released machines end, and leave their places to others", () => {
  const { counted, world } = counting(Effect.never)
  return Effect.gen(function* () {
    const provider = yield* MachineProvider
    const keys = Array.from({ length: 300 }, (_, i) => `m${i}`)
    yield* Effect.forEach(keys, (key) => provider.launch(specOf(key, "sleep 9")), { concurrency: "unbounded" })
    expect(counted).toEqual({ begun: 256, brokenOff: 0 })
    yield* Effect.forEach(keys, end, { concurrency: "unbounded" })
    expect(counted).toEqual({ begun: 256, brokenOff: 256 })
    yield* provider.launch(specOf("next", "sleep 9"))
    yield* Effect.yieldNow
    expect(counted.begun).toBe(257)
  }).pipe(Effect.provide(world))
})

it.effect("who waits for the run of a machine that is released is told to ask again, and finds it gone", () => {
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

it.effect("many short lines count as what they take: the runs used least are made again", () => {
  const chunks = Array.from({ length: 100_000 }, (_, at) => ({ at, bytes: new Uint8Array(1) }))
  const { counted, world } = counting(Effect.succeed({ chunks, exit: null, files: [], overran: false }))
  return Effect.gen(function* () {
    const provider = yield* MachineProvider
    const keys = Array.from({ length: 20 }, (_, i) => `m${i}`)
    for (const key of keys) {
      yield* provider.launch(specOf(key, "sleep 9"))
      yield* provider.observe(key)
    }
    expect(counted.begun).toBe(20)
    yield* provider.observe("m19")
    expect(counted.begun).toBe(20)
    yield* provider.observe("m0")
    expect(counted.begun).toBe(21)
  }).pipe(Effect.provide(world))
})
