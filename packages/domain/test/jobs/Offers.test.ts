/** Cached offers: their lifetime, and their use while the provider is unavailable. */
import { expect, it } from "@effect/vitest"
import { Signals } from "@sluice/domain/database/Signals"
import { makeOffers } from "@sluice/domain/jobs/Offers"
import {
  MachineProvider,
  type MachineProviderService,
  ProviderUnavailable
} from "@sluice/domain/machines/MachineProvider"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

const set = Effect.gen(function* () {
  const world = { asked: 0, free: 2, isAway: false }
  const provider = {
    priceOf: () => 1n,
    gpuTypes: Effect.suspend(() => {
      world.asked++
      const type = { id: "H100", maxGpuCount: 8, regions: ["eu"], available: world.free }
      return world.isAway ? Effect.fail(new ProviderUnavailable({ cause: "away" })) : Effect.succeed([type])
    })
  } as unknown as MachineProviderService
  const layer = Layer.merge(Layer.succeed(MachineProvider, provider), Signals.layer)
  const context = yield* Layer.build(layer)
  const { current } = yield* Effect.provide(makeOffers, context)
  return { current, signals: Signals.pipe(Effect.provide(context)), world }
})

it.effect("an offer is fetched once a second at most, and soon after a machine ended", () =>
  Effect.gen(function* () {
    const { current, signals, world } = yield* set
    const { emit } = yield* signals
    const { hasCapacity } = yield* current
    expect([hasCapacity("H100", 2), hasCapacity("H100", 3), hasCapacity("other", 1)]).toEqual([true, false, false])
    yield* TestClock.adjust(999)
    yield* current
    expect(world.asked).toBe(1)
    yield* TestClock.adjust(1)
    yield* current
    expect(world.asked).toBe(2)
    world.free = 3
    emit("capacity")
    yield* TestClock.adjust(99)
    expect((yield* current).hasCapacity("H100", 3)).toBe(false)
    emit("capacity")
    yield* TestClock.adjust(1)
    expect((yield* current).hasCapacity("H100", 3)).toBe(true)
    expect(world.asked).toBe(3)
  }).pipe(Effect.scoped)
)

it.effect(
  "an unavailable provider keeps its last offer, marked as unavailable; without a last offer there is none",
  () =>
    Effect.gen(function* () {
      const { current, world } = yield* set
      world.isAway = true
      expect((yield* Effect.flip(current))._tag).toBe("MachinesUnavailable")
      world.isAway = false
      expect(yield* current).toMatchObject({ available: true })
      world.isAway = true
      yield* TestClock.adjust(1_000)
      expect(yield* current).toMatchObject({ available: false, offer: { gpuTypes: [{ id: "H100" }] } })
      world.isAway = false
      expect(yield* current).toMatchObject({ available: true })
    }).pipe(Effect.scoped)
)
