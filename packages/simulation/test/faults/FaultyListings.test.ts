/** Listings and output under faults: never an invention, never a wrong offset. */
import { expect } from "@effect/vitest"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { Effect, Exit, Fiber, Stream } from "effect"
import { onPglite } from "@sluice/testing/engines/Databases"
import { exited, lookUntil, readAll, specOf } from "@sluice/testing/conformance/MachineDriver"
import type { FaultRates } from "@sluice/simulator/faults/Fault"
import { COMMAND, pass, TEXT, under } from "./support/UnderFaults.ts"

onPglite("faulty listings and output", (it) => {
  it.effect("listings fail, are empty, partial or old, and never invent a machine", () =>
    Effect.gen(function* () {
      const listed = (rates: Partial<FaultRates>) =>
        under(rates, () =>
          Effect.gen(function* () {
            const provider = yield* MachineProvider
            const keys = () => Effect.map(provider.list, (machines) => machines.map(({ key }) => key))
            for (let i = 0; i < 8; i++) yield* provider.launch(specOf(`${Object.keys(rates)[0]} ${i}`, COMMAND))
            const first = yield* Effect.exit(keys())
            return { first, second: yield* Effect.exit(keys()) }
          })
        )
      expect(Exit.isFailure((yield* listed({ listing_fails: 1 })).first)).toBe(true)
      expect((yield* listed({ listing_empty: 1 })).first).toEqual(Exit.succeed([]))
      const stale = yield* listed({ listing_stale: 1 })
      expect(stale.first).toEqual(Exit.succeed([]))
      expect(Exit.isSuccess(stale.second) && stale.second.value.length).toBeGreaterThanOrEqual(8)
      const partial = (yield* listed({ listing_partial: 1 })).first
      const some = Exit.isSuccess(partial) ? partial.value.filter((key) => key.startsWith("listing_partial")) : []
      expect(some.length).toBeGreaterThan(0)
      expect(some.length).toBeLessThan(8)
    })
  )

  it.effect("offers_fail keeps from who asks what can be rented", () =>
    under({ offers_fail: 0.5 }, ({ faultDraw }) =>
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        const answers = yield* Effect.forEach(Array.from({ length: 40 }), () => Effect.exit(provider.gpuTypes))
        const failed = answers.filter(Exit.isFailure).length
        expect(failed).toBe(faultDraw.counts.get("offers_fail"))
        expect(failed > 5 && failed < 35).toBe(true)
        expect(answers.some((exit) => Exit.isSuccess(exit) && exit.value.length > 0)).toBe(true)
      })
    )
  )

  it.effect("log_cut breaks off streams and reads, log_repeated gives bytes again with their true offset", () =>
    Effect.gen(function* () {
      yield* under({ log_cut: 1 }, ({ faultDraw }) =>
        Effect.gen(function* () {
          const provider = yield* MachineProvider
          yield* provider.launch(specOf("a", COMMAND))
          const follower = yield* Effect.forkChild(Effect.exit(Stream.runCollect(provider.follow("a", 0))))
          yield* lookUntil(provider, pass, "a", exited)
          for (let i = 0; i < 100 && follower.pollUnsafe() === undefined; i++) yield* pass(1_000)
          expect(Exit.isFailure(yield* Fiber.join(follower))).toBe(true)
          let cuts = 0
          while (Exit.isFailure(yield* Effect.exit(provider.read("a", 0, 100)))) cuts++
          expect(cuts).toBe(3)
          expect(faultDraw.counts.get("log_cut")).toBe(4)
          expect((yield* readAll(provider, "a")).toString()).toBe(TEXT)
        })
      )
      yield* under({ log_repeated: 1 }, () =>
        Effect.gen(function* () {
          const provider = yield* MachineProvider
          yield* provider.launch(specOf("b", COMMAND))
          yield* lookUntil(provider, pass, "b", exited)
          expect((yield* provider.read("b", 0, 1_000)).offset).toBe(0)
          for (let i = 0; i < 4; i++) {
            const { offset, bytes } = yield* provider.read("b", 20, 100)
            expect(offset).toBeLessThan(20)
            expect(Buffer.from(bytes).toString()).toBe(TEXT.slice(offset))
          }
          expect((yield* provider.read("b", 20, 100)).offset).toBe(20)
        })
      )
    })
  )
})
