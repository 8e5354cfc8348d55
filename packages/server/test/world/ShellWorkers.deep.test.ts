/** Endless commands beside bounded ones in the two threads: seconds of real work each. `ShellWorkers.test.ts` is the quick part. */
import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Shell } from "@sluice/machine-shell/Shell"
import { runOf } from "@sluice/testing/fixtures/ShellRuns"
import { defaultLimits, layerWith } from "../../src/world/ShellWorkers.ts"

const run = (command: string, over = {}, slow = () => {}) =>
  Effect.flatMap(Shell, (shell) => shell.run(runOf(command, over), slow))

it.live("an endless command blocks neither other commands nor the main thread, and is killed at the limit", () =>
  Effect.gen(function* () {
    yield* run("true")
    const slow: Array<string> = []
    const isSlow = (name: string) => () => void slow.push(name)
    const endless = run("while true; do sleep 0; echo x; done", { untilMs: Infinity }, isSlow("endless"))
    const hostile = yield* Effect.forkChild(endless)
    const others = yield* Effect.forEach(Array.from({ length: 20 }), () => run("echo quick", {}, isSlow("quick")), {
      concurrency: "unbounded"
    })
    expect(others.map((timeline) => Buffer.from(timeline.chunks[0]!.bytes).toString())).toEqual(
      others.map(() => "quick\n")
    )
    expect(hostile.pollUnsafe()).toBe(undefined)
    const timeline = yield* Fiber.join(hostile)
    expect(timeline).toMatchObject({ overran: true, exit: { code: 137 } })
    expect(slow).toEqual(["endless"])
    expect(Buffer.from(timeline.chunks[0]!.bytes).toString()).toBe("simulated machine: killed: out of time\n")
    expect((yield* run("echo after")).overran).toBe(false)
  }).pipe(Effect.provide(layerWith({ ...defaultLimits, sliceMs: 300, longSliceMs: 600, limitMs: 1_500 })))
)

it.live("a command of moderate work waits for at most one endless command", () =>
  Effect.gen(function* () {
    yield* run("true")
    const ended: Array<string> = []
    const begin = (name: string, command: string) =>
      Effect.forkChild(Effect.tap(run(command, { untilMs: Infinity }), () => Effect.sync(() => void ended.push(name))))
    const endless = "while true; do sleep 0; echo x; done"
    const hostile = yield* Effect.forEach([1, 2, 3], (at) => begin(`endless ${at}`, endless))
    // More than the quick lane's share, less than the first slice of the slow lane.
    const honest = yield* begin("honest", "for i in $(seq 1 1500); do :; done; echo done")
    yield* Fiber.join(honest)
    yield* Effect.forEach(hostile, Fiber.join)
    expect(ended.indexOf("honest")).toBeLessThanOrEqual(1)
  }).pipe(Effect.provide(layerWith({ ...defaultLimits, sliceMs: 20, longSliceMs: 1_000, limitMs: 2_000 })))
)
