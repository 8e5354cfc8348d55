/**
 * What every provider of machines must do, simulated or real: one suite, run against each. A provider under test gets
 * commands of plain bash; time passes as its options say (`TestClock.adjust`, or really).
 */
import { expect, type Vitest } from "@effect/vitest"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { Effect, Fiber, Redacted, Stream } from "effect"
import type { Layer } from "effect"
import { exited, Machines, readAll, started, stopped } from "./MachineDriver.ts"

export interface Conformance<R> {
  readonly it: Vitest.MethodsNonLive<R>
  readonly layer: Layer.Layer<MachineProvider, never, R>
  readonly gpuType: string
  readonly pass: (ms: number) => Effect.Effect<void>
}

export const machineProviderConformance = <R>(name: string, { it, layer, gpuType, pass }: Conformance<R>): void => {
  const test = (title: string, body: (machines: Machines) => Effect.Effect<void, unknown>) =>
    it.effect(`${name}: ${title}`, () =>
      Effect.flatMap(MachineProvider, (provider) => Effect.orDie(body(new Machines(provider, pass, gpuType)))).pipe(
        Effect.provide(layer)
      )
    )

  for (const [command, code] of [
    ["true", 0],
    ["exit 3", 3],
    ["no-such-command-here", 127],
    ["set -e; false; true", 1]
  ] as const) {
    test(`the exit code of \`${command}\` is ${code}`, (m) =>
      Effect.map(m.toExit("a", command), (exit) => expect(exit).toMatchObject({ code, why: "exit" })))
  }

  test("stderr is kept, in order with stdout", (m) =>
    Effect.gen(function* () {
      yield* m.toExit("a", "echo 1; echo 2 >&2; echo 3; ls /nowhere-at-all || echo 4 >&2")
      expect(yield* m.text("a")).toMatch(/^1\n2\n3\n.*\/nowhere-at-all.*\n4\n$/)
    }))

  test("output is there before the exit, and a follower gets each byte once", (m) =>
    Effect.gen(function* () {
      const provider = m.provider
      yield* provider.launch(m.spec("a", "echo one; sleep 30; echo two; sleep 1"))
      const follower = yield* Effect.forkChild(Stream.runCollect(provider.follow("a", 0)))
      yield* m.until("a", started)
      yield* pass(1_000)
      expect(yield* m.text("a")).toBe("one\n")
      expect(exited((yield* provider.observe("a")).state)).toBe(false)
      yield* m.until("a", exited)
      expect(yield* m.text("a")).toBe("one\ntwo\n")
      for (let i = 0; i < 100 && follower.pollUnsafe() === undefined; i++) yield* pass(1_000)
      const outputs = yield* Fiber.join(follower)
      expect(Buffer.concat(outputs.map((output) => output.bytes)).toString()).toBe("one\ntwo\n")
      expect(outputs.map((output) => output.offset)).toEqual([0, 4])
      expect((yield* provider.read("a", 4, 2)).bytes).toEqual(new Uint8Array(Buffer.from("tw")))
    }))

  test("three launches at once run the command once", (m) =>
    Effect.gen(function* () {
      const spec = m.spec("a", "echo ran")
      yield* Effect.all([m.provider.launch(spec), m.provider.launch(spec), m.provider.launch(spec)], { concurrency: 3 })
      yield* m.until("a", exited)
      expect(yield* m.text("a")).toBe("ran\n")
      expect((yield* m.provider.list).map((one) => one.key)).toEqual(["a"])
    }))

  test("a launch after the exit, the stop and the release starts nothing", (m) =>
    Effect.gen(function* () {
      const first = yield* m.toExit("a", "echo ran")
      yield* pass(5_000)
      yield* m.provider.launch(m.spec("a", "echo again"))
      expect((yield* m.until("a", exited)).state).toMatchObject({ command: first })
      yield* m.provider.stop("a")
      yield* m.until("a", stopped)
      expect((yield* m.provider.launch(m.spec("a", "echo again"))).state._tag).toBe("Stopped")
      expect(yield* m.text("a")).toBe("ran\n")
      yield* m.provider.release("a")
      expect((yield* m.provider.launch(m.spec("a", "echo again"))).state._tag).toBe("Stopped")
      expect(yield* m.provider.list).toEqual([])
    }))

  test("a stop that comes before the launch wins", (m) =>
    Effect.gen(function* () {
      expect((yield* m.provider.observe("a")).state._tag).toBe("Absent")
      yield* m.provider.stop("a")
      expect((yield* m.provider.launch(m.spec("a", "echo ran"))).state).toMatchObject({ _tag: "Stopped", since: null })
      yield* pass(60_000)
      expect(yield* m.text("a")).toBe("")
    }))

  test("a stop ends the command, keeps what it wrote, and is the same when said again", (m) =>
    Effect.gen(function* () {
      yield* m.provider.launch(m.spec("a", "echo before; sleep 600; echo after"))
      yield* m.until("a", started)
      yield* pass(10_000)
      yield* m.provider.stop("a")
      const first = yield* m.until("a", stopped)
      expect(first.state).toMatchObject({ command: { _tag: "Exited", code: null, why: "stopped" } })
      yield* pass(700_000)
      yield* m.provider.stop("a")
      expect((yield* m.provider.observe("a")).state).toEqual(first.state)
      expect(yield* m.text("a")).toBe("before\n")
    }))

  test("a stop while the machine launches leaves one that never ran its command", (m) =>
    Effect.gen(function* () {
      yield* m.provider.launch(m.spec("a", "echo ran"))
      yield* m.provider.stop("a")
      expect((yield* m.until("a", stopped)).state).toMatchObject({ command: { _tag: "Pending" } })
      yield* pass(60_000)
      expect(yield* m.text("a")).toBe("")
    }))

  test("the maximum runtime ends the command, not the machine", (m) =>
    Effect.gen(function* () {
      yield* m.provider.launch(m.spec("a", "echo begun; sleep 600; echo never", { maxRuntimeMs: 60_000 }))
      const { state } = yield* m.until("a", exited)
      if (state._tag !== "Running" || state.command._tag !== "Exited") return expect.unreachable()
      expect(state.command).toMatchObject({ code: null, why: "timeout" })
      expect(Math.round((state.command.exitedAt - state.command.startedAt) / 1000)).toBe(60)
      yield* pass(600_000)
      expect((yield* m.provider.observe("a")).state).toEqual(state)
      expect(yield* m.text("a")).toBe("begun\n")
    }))

  test("20 MB of output arrive whole", (m) =>
    Effect.gen(function* () {
      yield* m.toExit(
        "a",
        `x=$(printf '%01000d' 7); for i in $(seq 20); do for j in $(seq 50); do echo "$x"; done; done > f; for i in $(seq 20); do cat f; done`
      )
      const output = yield* readAll(m.provider, "a")
      expect(output.length).toBe(20 * 1000 * 1001)
      expect(output.subarray(-5).toString()).toBe("0007\n")
    }))

  test("quotes, newlines, here-documents and other alphabets arrive as they were", (m) =>
    Effect.gen(function* () {
      yield* m.toExit(
        "a",
        `cat <<'E'\n  "$HOME" \`x\` 'y' \\n $(z)\nE\necho "a\tb"; echo 'äöü 漢字 🚀'; printf '%s|' "a  b" c`
      )
      expect(yield* m.text("a")).toBe(`  "$HOME" \`x\` 'y' \\n $(z)\na\tb\näöü 漢字 🚀\na  b|c|`)
    }))

  test("variables reach the command in /workspace", (m) =>
    Effect.gen(function* () {
      const env = new Map([
        ["GREETING", Redacted.make("hello 'you'\n$(x)")],
        ["SERVICE_JOB_ID", Redacted.make("j1")]
      ])
      yield* m.provider.launch(m.spec("a", 'echo "$GREETING" $SERVICE_JOB_ID; pwd', { env }))
      yield* m.until("a", exited)
      expect(yield* m.text("a")).toBe("hello 'you'\n$(x) j1\n/workspace\n")
    }))

  test("a volume keeps files, folders, modes and links from one machine to the next", (m) =>
    Effect.gen(function* () {
      const volumeId = "v1"
      yield* m.provider.launch(
        m.spec(
          "a",
          "mkdir -p empty d/e; echo hi > d/f; chmod 750 d/f; ln -s d/f link; printf '\\0\\1' > bin; rm -f gone",
          { volumeId }
        )
      )
      yield* m.until("a", exited)
      yield* m.provider.stop("a")
      const { state } = yield* m.until("a", stopped)
      expect(state).toMatchObject({ volumeBytes: 5 })
      yield* m.provider.release("a")
      yield* m.provider.launch(
        m.spec(
          "b",
          "cat link; [ -d empty ] && [ -d d/e ] && echo folders; [ -x d/f ] && stat -c %a d/f; readlink link; wc -c < bin; rm d/f; echo 2 > two",
          { volumeId }
        )
      )
      yield* m.until("b", exited)
      expect((yield* m.text("b")).replace(/ +/g, "")).toBe("hi\nfolders\n750\nd/f\n2\n")
      yield* m.provider.stop("b")
      expect((yield* m.until("b", stopped)).state).toMatchObject({ volumeBytes: 4 })
    }))

  test("a volume is deleted once no machine has it, and then holds nothing", (m) =>
    Effect.gen(function* () {
      for (const volumeId of ["v", "w"]) {
        yield* m.provider.launch(m.spec(`a-${volumeId}`, "echo kept > file", { volumeId }))
        yield* m.until(`a-${volumeId}`, exited)
      }
      expect((yield* Effect.flip(m.provider.deleteVolume("v")))._tag).toBe("ProviderUnavailable")
      for (const key of ["a-v", "a-w"]) {
        yield* m.provider.stop(key)
        yield* m.until(key, stopped)
      }
      for (const volumeId of ["v", "v", "never-seen"]) yield* m.provider.deleteVolume(volumeId)
      for (const volumeId of ["v", "w"]) {
        yield* m.provider.launch(m.spec(`b-${volumeId}`, "ls -A", { volumeId }))
        yield* m.until(`b-${volumeId}`, exited)
      }
      expect([yield* m.text("b-v"), yield* m.text("b-w")]).toEqual(["", "file\n"])
    }))

  test("a machine stopped in the middle saves what was there", (m) =>
    Effect.gen(function* () {
      yield* m.provider.launch(
        m.spec("a", "echo 1 > one; sleep 100; echo 2 > two; sleep 100; rm one", { volumeId: "v" })
      )
      yield* m.until("a", started)
      yield* pass(150_000)
      yield* m.provider.stop("a")
      yield* m.until("a", stopped)
      yield* m.provider.launch(m.spec("b", "ls", { volumeId: "v" }))
      yield* m.until("b", exited)
      expect(yield* m.text("b")).toBe("one\ntwo\n")
    }))

  test("a machine without a command runs until it is stopped", (m) =>
    Effect.gen(function* () {
      yield* m.provider.launch(m.spec("a", "", { command: undefined, maxRuntimeMs: undefined }))
      yield* m.until("a", (state) => state._tag === "Running")
      yield* pass(3_600_000)
      expect((yield* m.provider.observe("a")).state).toMatchObject({ _tag: "Running", command: { _tag: "Pending" } })
      yield* m.provider.stop("a")
      expect((yield* m.until("a", stopped)).state).toMatchObject({ command: { _tag: "Pending" }, volumeBytes: null })
    }))

  test("an unknown GPU type and too many GPUs are refused", (m) =>
    Effect.gen(function* () {
      for (const over of [{ gpuType: "ABACUS" }, { gpuCount: 1_000 }]) {
        const error = yield* Effect.flip(m.provider.launch(m.spec("a", "true", over)))
        expect(error._tag).toBe("LaunchRefused")
      }
      expect((yield* m.provider.observe("a")).state._tag).toBe("Absent")
    }))
}
