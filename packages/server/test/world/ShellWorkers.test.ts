/** Threads give the same timelines as this thread, and a run that is broken off frees its thread. `ShellWorkers.deep.test.ts` has the commands that never end. */
import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { execute } from "@sluice/machine-shell/Execution"
import { Shell } from "@sluice/machine-shell/Shell"
import { runOf } from "@sluice/testing/fixtures/ShellRuns"
import { defaultLimits, layer, layerWith } from "../../src/world/ShellWorkers.ts"

const run = (command: string, over = {}, slow = () => {}) =>
  Effect.flatMap(Shell, (shell) => shell.run(runOf(command, over), slow))

it.live("a thread's timeline equals the main thread's, to the byte", () =>
  Effect.gen(function* () {
    const files = [{ _tag: "File", path: "in", mode: 0o644, bytes: new Uint8Array([1, 0, 255]) }] as const
    for (const command of [
      "echo $RANDOM; shuf -i 1-20; mktemp -d; date +%s%N; sleep 5; nvidia-smi; (sleep 2; echo $RANDOM) & wait; wc -c in; echo out > out; stat out",
      "for i in $(seq 100); do echo $i; sleep 0.1; done; exit 9",
      "while true; do :; done",
      "f() { f; }; f",
      "yes"
    ]) {
      const expected = yield* Effect.promise(() => execute(runOf(command, { files, keepFiles: true })))
      const actual = yield* run(command, { files, keepFiles: true })
      expect(actual.exit).toEqual(expected.exit)
      expect(actual.files).toEqual(expected.files)
      expect(
        Buffer.concat(actual.chunks.map((chunk) => chunk.bytes)).equals(
          Buffer.concat(expected.chunks.map((chunk) => chunk.bytes))
        )
      ).toBe(true)
      expect(actual.chunks.map((chunk) => chunk.at)).toEqual(expected.chunks.map((chunk) => chunk.at))
    }
  }).pipe(Effect.provide(layer))
)

it.live("the run fixes the time and randomness that a command sees", () =>
  Effect.gen(function* () {
    const command = "awk 'BEGIN { srand(); print rand() }'; jq -n now; printf '%(%s)T\\n' -1"
    const first = yield* run(command)
    expect((yield* run(command)).chunks).toEqual(first.chunks)
    expect(Buffer.from(first.chunks[0]!.bytes).toString()).toMatch(/1700000000\n$/)
  }).pipe(Effect.provide(layer))
)

it.live("runs without a waiting caller are aborted and leave both threads to others", () =>
  Effect.gen(function* () {
    const endless = run("while true; do sleep 0; echo x; done", { untilMs: Infinity })
    const left = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(endless, { startImmediately: true }))
    const next = yield* Effect.forkChild(run("echo next"), { startImmediately: true })
    yield* Effect.forEach(left, Fiber.interrupt)
    expect((yield* Fiber.join(next)).exit?.code).toBe(0)
    const both = yield* Effect.forEach([1, 2], () => run("echo both"), { concurrency: 2 })
    expect(both.map(({ exit }) => exit?.code)).toEqual([0, 0])
  }).pipe(Effect.provide(layerWith({ ...defaultLimits, sliceMs: 600_000, longSliceMs: 600_000, limitMs: 600_000 })))
)
