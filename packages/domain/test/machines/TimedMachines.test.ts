/** A provider that does not answer in time is one that gave no answer, for every call that it has. */
import { assert, describe, it } from "@effect/vitest"
import type { MachineProviderService } from "@sluice/domain/machines/MachineProvider"
import { withTimeouts } from "@sluice/domain/machines/TimedMachines"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"

const silent = {
  gpuTypes: Effect.never,
  launch: () => Effect.never,
  observe: () => Effect.never,
  read: () => Effect.never,
  follow: () => Stream.never,
  stop: () => Effect.never,
  list: Effect.never,
  release: () => Effect.never,
  deleteVolume: () => Effect.never
} as unknown as MachineProviderService

const calls: Readonly<Record<string, (provider: MachineProviderService) => Effect.Effect<unknown, unknown>>> = {
  gpuTypes: ({ gpuTypes }) => gpuTypes,
  launch: ({ launch }) => launch(undefined as never),
  observe: ({ observe }) => observe("m"),
  read: ({ read }) => read("m", 0, 1),
  follow: ({ follow }) => Stream.runDrain(follow("m", 0)),
  stop: ({ stop }) => stop("m"),
  list: ({ list }) => list,
  release: ({ release }) => release("m"),
  deleteVolume: ({ deleteVolume }) => deleteVolume("v")
}

describe("A provider that hangs", () => {
  for (const [name, call] of Object.entries(calls)) {
    it.effect(`${name} ends within the bound`, () =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Effect.flip(call(withTimeouts(silent, 30_000))), {
          startImmediately: true
        })
        yield* TestClock.adjust("29 seconds")
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust("1 second")
        assert.propertyVal(yield* Fiber.join(fiber), "_tag", "ProviderUnavailable")
      })
    )
  }
})
