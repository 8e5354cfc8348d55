/** Each fault of machines does what its name says, is counted when it takes effect, and starts nothing twice. */
import { expect } from "@effect/vitest"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { Clock, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { onPglite } from "@sluice/testing/engines/Databases"
import { exited, lookUntil, readAll, specOf, started, stopped } from "@sluice/testing/conformance/MachineDriver"
import { machineProviderConformance } from "@sluice/testing/conformance/MachineProviderConformance"
import { VISIBLE_WITHIN_MS } from "@sluice/simulator/faults/FaultyMachines"
import { faultDrawOf } from "./support/Faults.ts"
import { faultyWorld } from "./support/FaultyFleet.ts"
import { COMMAND, pass, TEXT, under } from "./support/UnderFaults.ts"

onPglite("faulty machines", (it) => {
  machineProviderConformance("without rates", {
    it,
    layer: Layer.fresh(faultyWorld({ faultDraw: faultDrawOf({}).faultDraw })),
    gpuType: "H100",
    pass
  })

  it.effect("launch_refused starts nothing, either way", () =>
    under({ launch_refused: 1 }, ({ reported }) =>
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        const tags = new Set<string>()
        for (let i = 0; i < 12; i++) {
          tags.add((yield* Effect.flip(provider.launch(specOf(`m${i}`, COMMAND))))._tag)
          expect((yield* provider.observe(`m${i}`)).state._tag).toBe("Absent")
        }
        expect([...tags].sort()).toEqual(["LaunchRefused", "NoCapacity"])
        expect(reported).toHaveLength(12)
        expect(yield* provider.list).toEqual([])
      })
    )
  )

  it.effect("launch_answers_error acted or did not; asking again finds one machine", () =>
    under({ launch_answers_error: 1 }, ({ faultDraw }) =>
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        const states = new Set<string>()
        for (let i = 0; i < 12; i++) {
          const spec = specOf(`m${i}`, "echo ran")
          expect((yield* Effect.flip(provider.launch(spec)))._tag).toBe("ProviderUnavailable")
          states.add((yield* provider.observe(spec.key)).state._tag)
          let tries = 1
          while (Exit.isFailure(yield* Effect.exit(provider.launch(spec)))) tries++
          expect(tries).toBeLessThanOrEqual(4)
        }
        expect([...states].sort()).toEqual(["Absent", "Launching"])
        expect(yield* provider.list).toHaveLength(12)
        expect(faultDraw.counts.get("launch_answers_error")).toBe(48)
        yield* lookUntil(provider, pass, "m0", exited)
        expect((yield* readAll(provider, "m0")).toString()).toBe("ran\n")
      })
    )
  )

  it.effect("visible_late keeps a machine out of sight, within the promised bound", () =>
    under({ visible_late: 1 }, ({ reported }) =>
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        expect(provider.capabilities.visibleWithinMs).toBe(VISIBLE_WITHIN_MS)
        const said = new Set<string>()
        for (let i = 0; i < 8; i++) {
          const at = yield* Clock.currentTimeMillis
          const first = yield* provider.launch(specOf(`m${i}`, COMMAND))
          said.add(first.state._tag)
          if (first.state._tag === "Launching") expect(first.nextAt).toBeNull()
          const absent = yield* provider.observe(`m${i}`)
          expect(absent.state._tag).toBe("Absent")
          expect((yield* provider.list).some(({ key }) => key === `m${i}`)).toBe(false)
          yield* lookUntil(provider, pass, `m${i}`, (state) => state._tag !== "Absent")
          expect((yield* Clock.currentTimeMillis) - at).toBe(absent.nextAt! - at)
          expect((yield* Clock.currentTimeMillis) - at).toBeLessThan(VISIBLE_WITHIN_MS)
        }
        expect([...said].sort()).toEqual(["Absent", "Launching"])
        expect(reported).toHaveLength(8)
      })
    )
  )

  it.effect("machine_lost breaks a machine for good; what it wrote until then stays", () =>
    under(
      { machine_lost: 1 },
      ({ faultDraw }) =>
        Effect.gen(function* () {
          const provider = yield* MachineProvider
          const at = yield* Clock.currentTimeMillis
          const { nextAt } = yield* provider.launch(specOf("a", COMMAND))
          expect(nextAt).toBeLessThanOrEqual(at + 150_000)
          const running = yield* lookUntil(provider, pass, "a", started)
          expect(running.nextAt).toBe(at + 150_000)
          const lost = yield* lookUntil(provider, pass, "a", (state) => state._tag === "Lost")
          if (running.state._tag !== "Running" || lost.state._tag !== "Lost") return expect.unreachable()
          expect(lost.state.since).toBe(running.state.since)
          expect(lost.state.lostAt).toBeGreaterThanOrEqual(at + 150_000)
          expect(lost.state.lostAt).toBeLessThanOrEqual(at + 152_000)
          const text = (yield* readAll(provider, "a")).toString()
          expect(text).toBe("line 1\nline 2\nline 3\n")
          yield* pass(3_600_000)
          yield* provider.stop("a")
          expect((yield* provider.observe("a")).state).toEqual(lost.state)
          expect((yield* provider.launch(specOf("a", COMMAND))).state).toEqual(lost.state)
          expect((yield* provider.list)[0]!.state).toEqual(lost.state)
          expect((yield* readAll(provider, "a")).toString()).toBe(text)
          expect(faultDraw.counts.get("machine_lost")).toBe(1)
          yield* provider.release("a")
          expect(yield* provider.list).toEqual([])
          expect((yield* provider.observe("a")).state).toEqual(lost.state)
        }),
      { ranges: { lostAfterMs: [150_000, 150_000] } }
    )
  )

  it.effect("a machine that ended before it breaks is not lost, and not counted", () =>
    under(
      { machine_lost: 1 },
      ({ reported }) =>
        Effect.gen(function* () {
          const provider = yield* MachineProvider
          yield* provider.launch(specOf("a", "true"))
          yield* lookUntil(provider, pass, "a", exited)
          yield* provider.stop("a")
          yield* lookUntil(provider, pass, "a", stopped)
          yield* pass(3_600_000)
          expect((yield* provider.observe("a")).state._tag).toBe("Stopped")
          expect(reported).toEqual([])
        }),
      { ranges: { lostAfterMs: [1_000_000, 1_000_000] } }
    )
  )

  it.effect("start_slow launches minutes later, and then all is as ever", () =>
    under(
      { start_slow: 1 },
      ({ reported }) =>
        Effect.gen(function* () {
          const provider = yield* MachineProvider
          const at = yield* Clock.currentTimeMillis
          const first = yield* provider.launch(specOf("a", COMMAND))
          expect(first).toMatchObject({ state: { _tag: "Launching" }, nextAt: at + 300_000 })
          expect(yield* provider.list).toEqual([{ key: "a", state: { _tag: "Launching" } }])
          const follower = yield* Effect.forkChild(Stream.runCollect(provider.follow("a", 0)))
          yield* pass(299_000)
          expect((yield* provider.observe("a")).state._tag).toBe("Launching")
          const { state } = yield* lookUntil(provider, pass, "a", exited)
          expect(state._tag === "Running" && state.since).toBeGreaterThanOrEqual(at + 303_000)
          for (let i = 0; i < 100 && follower.pollUnsafe() === undefined; i++) yield* pass(1_000)
          const outputs = yield* Fiber.join(follower)
          expect(Buffer.concat(outputs.map((output) => output.bytes)).toString()).toBe(TEXT)
          expect(reported.map((strike) => strike.fault)).toEqual(["start_slow"])
        }),
      { ranges: { slowMs: [300_000, 300_000] } }
    )
  )

  it.effect("start_endless launches until it is stopped, and never runs", () =>
    under({ start_endless: 1 }, ({ reported }) =>
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        expect((yield* provider.launch(specOf("a", COMMAND))).nextAt).toBe(Infinity)
        yield* pass(100 * 3_600_000)
        expect((yield* provider.observe("a")).state._tag).toBe("Launching")
        yield* provider.stop("a")
        const gone = (yield* provider.observe("a")).state
        expect(gone).toMatchObject({ _tag: "Stopped", since: null, command: { _tag: "Pending" } })
        expect((yield* provider.launch(specOf("a", COMMAND))).state).toEqual(gone)
        expect(reported.map((strike) => strike.fault)).toEqual(["start_endless"])
      })
    )
  )

  it.effect("exit_unreported runs until it is stopped, and then was stopped", () =>
    under({ exit_unreported: 1 }, ({ reported }) =>
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        yield* provider.launch(specOf("a", COMMAND))
        expect((yield* lookUntil(provider, pass, "a", started)).nextAt).toBe(Infinity)
        yield* pass(10 * 3_600_000)
        const late = yield* provider.observe("a")
        expect(late).toMatchObject({ state: { _tag: "Running", command: { _tag: "Started" } }, nextAt: Infinity })
        expect((yield* provider.list)[0]!.state).toEqual(late.state)
        const at = yield* Clock.currentTimeMillis
        yield* provider.stop("a")
        const gone = yield* lookUntil(provider, pass, "a", stopped)
        expect(gone.state).toMatchObject({ command: { _tag: "Exited", exitedAt: at, code: null, why: "stopped" } })
        expect((yield* readAll(provider, "a")).toString()).toBe(TEXT)
        expect(reported).toHaveLength(1)
      })
    )
  )

  it.effect("stop_retries fails some times, having acted or not, and is heard in the end", () =>
    under({ stop_retries: 1 }, ({ faultDraw }) =>
      Effect.gen(function* () {
        const provider = yield* MachineProvider
        let failures = 0
        let acted = 0
        for (let i = 0; i < 12; i++) {
          yield* provider.launch(specOf(`m${i}`, "sleep 100000", { maxRuntimeMs: undefined }))
          expect((yield* Effect.flip(provider.stop(`m${i}`)))._tag).toBe("ProviderUnavailable")
          yield* pass(60_000)
          if ((yield* provider.observe(`m${i}`)).state._tag === "Stopped") acted++
          let tries = 1
          while (Exit.isFailure(yield* Effect.exit(provider.stop(`m${i}`)))) tries++
          expect(tries).toBeLessThanOrEqual(3)
          failures += tries
          yield* lookUntil(provider, pass, `m${i}`, stopped)
        }
        expect(acted).toBeGreaterThan(0)
        expect(acted).toBeLessThan(12)
        expect(faultDraw.counts.get("stop_retries")).toBe(failures)
      })
    )
  )

  it.effect("volume_save_fails keeps a machine stopping until its volume is saved", () =>
    under(
      { volume_save_fails: 1 },
      ({ reported }) =>
        Effect.gen(function* () {
          const provider = yield* MachineProvider
          yield* provider.launch(specOf("a", "echo hi > f; sleep 600", { volumeId: "v" }))
          yield* lookUntil(provider, pass, "a", started)
          const at = yield* Clock.currentTimeMillis
          yield* provider.stop("a")
          yield* pass(89_000)
          expect(yield* provider.observe("a")).toMatchObject({ state: { _tag: "Running" }, nextAt: null })
          const gone = yield* lookUntil(provider, pass, "a", stopped)
          expect(gone.state).toMatchObject({ stoppedAt: at + 90_000, volumeBytes: 3 })
          yield* provider.launch(specOf("b", "sleep 600"))
          yield* provider.stop("b")
          yield* pass(3_000)
          expect((yield* provider.observe("b")).state._tag).toBe("Stopped")
          expect(reported.map((strike) => strike.subject)).toEqual(["a"])
        }),
      { ranges: { savesAfterMs: [90_000, 90_000] } }
    )
  )
})
