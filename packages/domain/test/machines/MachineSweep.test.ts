/** The sweep over a provider's listing: it stops machines that should not run, and changes nothing else. */
import { describe, expect, it } from "@effect/vitest"
import { MachineListStore } from "@sluice/domain/machines/MachineListStore"
import {
  MachineProvider,
  type MachineProviderService,
  type MachineState
} from "@sluice/domain/machines/MachineProvider"
import { MachineSweep } from "@sluice/domain/machines/MachineSweep"
import { OutputStore } from "@sluice/domain/machines/OutputStore"
import { Effect, Layer, Logger } from "effect"
import fc from "fast-check"
import { replica } from "@sluice/testing/fixtures/Workspace"

const STATES: ReadonlyArray<MachineState> = [
  { _tag: "Absent" },
  { _tag: "Launching" },
  { _tag: "Running", since: 0, command: { _tag: "Pending" } },
  { _tag: "Lost", since: 0, lostAt: 1, reason: "gone" }
]
const keyOf = (n: number) => `00000000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`

/** `row`: the recorded machine. */
interface Machine {
  readonly state: MachineState
  readonly row: "none" | "alive" | "gone"
}

const swept = (machines: ReadonlyArray<Machine>) => {
  const done = { stopped: new Set<string>(), released: new Set<string>(), readersDropped: 0 }
  const provider = {
    list: Effect.succeed(machines.map(({ state }, n) => ({ key: keyOf(n), state }))),
    stop: (key: string) => Effect.sync(() => void done.stopped.add(key)),
    release: (key: string) => Effect.sync(() => void done.released.add(key))
  } as unknown as MachineProviderService
  const store = {
    known: (keys: ReadonlyArray<string>) =>
      Effect.succeed(
        new Map(
          machines.flatMap(({ row }, n) =>
            row === "none" || !keys.includes(keyOf(n)) ? [] : [[keyOf(n), { gone: row === "gone" }] as const]
          )
        )
      )
  } as unknown as MachineListStore["Service"]
  const outputs = { dropStale: Effect.sync(() => done.readersDropped++) } as unknown as OutputStore["Service"]
  const layer = MachineSweep.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.succeed(MachineProvider, provider),
        Layer.succeed(MachineListStore, store),
        Layer.succeed(OutputStore, outputs),
        replica
      )
    )
  )
  return Effect.runPromise(
    Effect.flatMap(MachineSweep, ({ sweep }) => Effect.map(sweep, (counts) => ({ ...counts, done }))).pipe(
      Effect.provide(Layer.merge(layer, Logger.layer([])))
    )
  )
}

describe("MachineSweep", () => {
  it("stops orphans, releases ended machines, and leaves live machines alone", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            state: fc.constantFrom(...STATES),
            row: fc.constantFrom("none" as const, "alive" as const, "gone" as const)
          }),
          { maxLength: 8 }
        ),
        async (machines) => {
          const { done, released, stopped } = await swept(machines)
          for (const [n, { row, state }] of machines.entries()) {
            const runs = state._tag === "Launching" || state._tag === "Running"
            expect(done.stopped.has(keyOf(n))).toBe(row !== "alive" && runs)
            // A released machine is no longer listed: one whose stop needs a retry would run for ever.
            expect(done.released.has(keyOf(n))).toBe(row !== "alive" && !runs)
          }
          expect(done.readersDropped).toBe(1)
          expect(stopped).toBe(done.stopped.size)
          expect(released).toBe(done.released.size)
        }
      )
    ))

  it("observes each machine of a long listing once", async () => {
    const running = STATES[2]!
    const machines = Array.from({ length: 1_234 }, () => ({ state: running, row: "none" as const }))
    const { done, stopped } = await swept(machines)
    expect([done.stopped.size, stopped]).toEqual([1_234, 1_234])
  })
})
