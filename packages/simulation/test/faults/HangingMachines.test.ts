/** Calls that never answer: of every kind, one of a machine at most. */
import { expect } from "@effect/vitest"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { Effect, Fiber } from "effect"
import { onPglite } from "@sluice/testing/engines/Databases"
import { specOf } from "@sluice/testing/conformance/MachineDriver"
import { pass, under } from "./support/UnderFaults.ts"

/** Longer than any call takes. */
const LONG_MS = 60_000
const TURNS = 20
const MACHINES = 40

onPglite("machines whose calls hang", (it) => {
  it.effect("hang in any call of their lives, and once at most", () =>
    under({ machine_hangs: 0.2 }, ({ faultDraw }) =>
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        const hung = new Map<string, ReadonlyArray<string>>()
        for (let i = 0; i < MACHINES; i++) {
          const key = `machine ${i}`
          const calls = {
            launch: provider.launch(specOf(key, "true")),
            observe: provider.observe(key),
            read: provider.read(key, 0, 10),
            stop: provider.stop(key),
            release: provider.release(key)
          }
          const silent: Array<string> = []
          for (const [kind, call] of Object.entries<Effect.Effect<unknown, unknown>>(calls)) {
            const fiber = yield* Effect.forkChild(call)
            // The database behind it takes the machine's own time.
            for (let turn = 0; turn < TURNS && fiber.pollUnsafe() === undefined; turn++) {
              yield* pass(LONG_MS / TURNS)
              yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)))
            }
            if (fiber.pollUnsafe() === undefined) silent.push(kind)
            yield* Fiber.interrupt(fiber)
          }
          hung.set(key, silent)
        }
        const all = [...hung.values()]
        expect(all.every((kinds) => kinds.length <= 1)).toBe(true)
        expect(new Set(all.flat())).toEqual(new Set(["launch", "observe", "read", "stop", "release"]))
        expect(faultDraw.counts.get("machine_hangs")).toBe(all.flat().length)
        expect(all.flat().length).toBeLessThan(MACHINES)
      })
    )
  )
})
