/** Whatever strikes a machine, its provider keeps the word that it gave. */
import { expect } from "@effect/vitest"
import { MachineProvider, type MachineState, type Observation } from "@sluice/domain/machines/MachineProvider"
import { Clock, Effect, Exit } from "effect"
import { onPglite } from "@sluice/testing/engines/Databases"
import { specOf } from "@sluice/testing/conformance/MachineDriver"
import { chance } from "@sluice/machine-shell/Chance"
import { type FaultRanges, FaultyWorld } from "@sluice/simulator/faults/FaultyWorld"
import { faultDrawOf } from "./support/Faults.ts"
import { COMMAND, pass, under } from "./support/UnderFaults.ts"

onPglite("a faulty provider's word", (it) => {
  it.effect("a promise of nextAt is kept, a life goes one way, and its fate follows from the name", () =>
    Effect.gen(function* () {
      const rates = {
        launch_answers_error: 0.3,
        visible_late: 0.5,
        machine_lost: 0.4,
        start_slow: 0.3,
        start_endless: 0.1,
        exit_unreported: 0.3,
        stop_retries: 0.3,
        volume_save_fails: 0.5
      }
      for (let i = 0; i < 40; i++) {
        expect(yield* under(rates, () => lifeOf(`second ${i}`, i), { seed: i })).toHaveLength(120)
      }
      const named = (key: string) => {
        const { faultDraw } = faultDrawOf(rates, 7, { nameOf: () => "job-1" })
        return new FaultyWorld().planOf(key, faultDraw, RANGES)
      }
      expect({ ...named("one"), key: "" }).toEqual({ ...named("two"), key: "" })
    })
  )

  it.effect("a machine that breaks while it stops does not take back that its command was stopped", () =>
    under(
      { machine_lost: 1 },
      () =>
        Effect.gen(function* () {
          const provider = yield* MachineProvider
          yield* provider.launch(specOf("a", COMMAND))
          yield* pass(99_999)
          yield* provider.stop("a")
          const before = yield* provider.observe("a")
          expect(before).toMatchObject({ state: { command: { _tag: "Exited", why: "stopped" } } })
          yield* pass(1)
          expect((yield* provider.observe("a")).state).toEqual(before.state)
          yield* pass(2_000)
          expect((yield* provider.observe("a")).state._tag).toBe("Lost")
        }),
      { ranges: { lostAfterMs: [100_000, 100_000] } }
    )
  )

  it.effect("a machine that was refused stays refused", () =>
    under({ launch_refused: 1 }, () =>
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        for (let i = 0; i < 12; i++) {
          const answers = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () =>
            Effect.match(provider.launch(specOf(`r${i}`, COMMAND)), {
              onFailure: (error) => error._tag,
              onSuccess: () => "launched"
            })
          )
          const at = answers.indexOf("LaunchRefused")
          if (at >= 0) expect(new Set(answers.slice(at))).toEqual(new Set(["LaunchRefused"]))
          else expect(answers.at(-1)).toBe("launched")
        }
      })
    )
  )
})

const RANGES: FaultRanges = {
  visibleAfterMs: [1, 1_000],
  slowMs: [1, 1_000],
  lostAfterMs: [1, 1_000],
  savesAfterMs: [1, 1_000],
  stopTries: [1, 3],
  repeatedBytes: [1, 10]
}

/** Looks at a machine at chance moments over its life, a stop included, and holds the provider to its word. */
const lifeOf = (key: string, seed: number) =>
  Effect.gen(function* () {
    const provider = yield* MachineProvider
    const { draw } = chance(seed)
    const spec = specOf(key, COMMAND, { volumeId: key, maxRuntimeMs: 900_000 })
    while (Exit.isFailure(yield* Effect.exit(provider.launch(spec)))) yield* pass(500)
    const stopAt = Math.floor(draw("stop") * 100)
    const seen: Array<MachineState> = []
    let last: Observation | undefined
    for (let i = 0; i < 120; i++) {
      if (i === stopAt) {
        while (Exit.isFailure(yield* Effect.exit(provider.stop(key)))) yield* pass(500)
        last = undefined
      }
      const observation = yield* provider.observe(key)
      const now = yield* Clock.currentTimeMillis
      if (last?.nextAt != null && now < last.nextAt) expect(observation.state).toEqual(last.state)
      if (last !== undefined) expect(orderOf(observation.state)).toBeGreaterThanOrEqual(orderOf(last.state))
      last = observation
      seen.push(observation.state)
      // Now and then exactly to the promised moment, where it would be broken by one millisecond.
      const step = 1 + Math.floor(10 ** (5 * draw(`step ${i}`)))
      const promised = observation.nextAt === null ? Infinity : observation.nextAt - now - 1
      yield* pass(draw(`exact ${i}`) < 0.3 && promised > 0 && promised < 600_000 ? promised : step)
    }
    yield* pass(900_000)
    expect(["Stopped", "Lost"]).toContain((yield* provider.observe(key)).state._tag)
    return seen
  })

/** A life goes one way. */
const orderOf = (state: MachineState): number => {
  switch (state._tag) {
    case "Absent":
      return 0
    case "Launching":
      return 1
    case "Running":
      return state.command._tag === "Pending" ? 2 : state.command._tag === "Started" ? 3 : 4
    case "Stopped":
    case "Lost":
      return 5
  }
}
