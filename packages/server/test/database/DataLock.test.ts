/** The lock of a data directory: a living holder keeps other processes out, a dead holder or a reused pid does not. */
import { expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { lockDataDirectory } from "../../src/database/DataLock.ts"
import { processIdentity } from "../../src/database/ProcessIdentity.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-lock-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)
const lockFile = (path: string) => join(path, "sluice.lock")

const HOLD = `
  import { Effect } from "effect"
  import { lockDataDirectory } from ${JSON.stringify(new URL("../../src/database/DataLock.ts", import.meta.url).href)}
  const held = Effect.gen(function* () {
    yield* lockDataDirectory(process.argv[1])
    process.stdout.write("held")
    yield* Effect.never
  })
  Effect.runPromise(Effect.scoped(held)).catch((error) => { process.stdout.write("refused: " + error.message); process.exit(1) })
  setInterval(() => {}, 1000)`

/** Another process that tries to hold the directory; its first output says whether it holds it. */
const holder = (path: string) =>
  Effect.acquireRelease(
    Effect.promise(async (): Promise<readonly [child: ChildProcess, said: string]> => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", HOLD, path], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      const [said] = await once(child.stdout!, "data")
      return [child, String(said)]
    }),
    ([child]) => killed(child)
  )
const killed = (child: ChildProcess) =>
  Effect.promise(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill("SIGKILL")
    await once(child, "exit")
  })

it.live("a second process is refused with the holder's pid, and takes over after the holder was killed", () =>
  Effect.gen(function* () {
    const path = yield* directory
    const [first, said] = yield* holder(path)
    expect(said).toBe("held")
    const error = yield* Effect.flip(Effect.scoped(lockDataDirectory(path)))
    expect(error).toMatchObject({ _tag: "DataDirectoryInUse", directory: path, pid: first.pid })
    expect(error.message).toContain(`Process ${first.pid} already uses the data directory ${path}`)
    const [, second] = yield* holder(path)
    expect(second).toMatch(/^refused: Process/)
    yield* killed(first)
    expect(existsSync(lockFile(path))).toBe(true)
    yield* Effect.scoped(lockDataDirectory(path))
    expect(existsSync(lockFile(path))).toBe(false)
  })
)

it.live("exactly one of many processes takes over a dead holder's lock", () =>
  Effect.gen(function* () {
    const path = yield* directory
    const [dead] = yield* holder(path)
    yield* killed(dead)
    const rivals = yield* Effect.all([holder(path), holder(path), holder(path), holder(path)], { concurrency: 4 })
    expect(rivals.map(([, said]) => said.slice(0, 7)).sort()).toEqual(["held", "refused", "refused", "refused"])
  })
)

/** Tries to hold the directory while ten virtual seconds pass: a holder out of sight is watched for seconds. */
const watching = (path: string) =>
  Effect.gen(function* () {
    const trying = yield* Effect.forkChild(Effect.exit(Effect.scoped(lockDataDirectory(path))), {
      startImmediately: true
    })
    for (let second = 0; second < 10; second++) yield* TestClock.adjust("1 second")
    return yield* Fiber.join(trying)
  })

it.effect("a reused pid, a torn file and an invisible holder do not block for ever", () =>
  Effect.gen(function* () {
    const path = yield* directory
    yield* TestClock.setTime(statSync(path).mtimeMs)
    const me = processIdentity(process.pid)
    const outOfSight = { pid: 1, place: "elsewhere", startedAt: "1" }
    const old = 1_000_000
    for (const [content, touched] of [
      [JSON.stringify({ pid: process.pid, ...me, startedAt: "1" }), undefined],
      ["{", old],
      [JSON.stringify(outOfSight), old]
    ] as const) {
      writeFileSync(lockFile(path), content)
      if (touched !== undefined) utimesSync(lockFile(path), touched, touched)
      expect(Exit.isSuccess(yield* watching(path))).toBe(true)
    }
    writeFileSync(lockFile(path), JSON.stringify(outOfSight))
    yield* TestClock.setTime(statSync(lockFile(path)).mtimeMs)
    const exit = yield* watching(path)
    expect(Exit.isFailure(exit)).toBe(true)
    expect(readFileSync(lockFile(path), "utf8")).toBe(JSON.stringify(outOfSight))
  })
)

it.effect("an invisible holder whose clock is behind still counts as alive", () =>
  Effect.gen(function* () {
    const path = yield* directory
    writeFileSync(lockFile(path), JSON.stringify({ pid: 1, place: "elsewhere", startedAt: "1" }))
    let behind = 1_000_000
    const touch = Effect.sync(() => utimesSync(lockFile(path), ++behind, behind))
    yield* Effect.forkChild(Effect.forever(Effect.andThen(touch, Effect.sleep("1 second"))))
    const exit = yield* watching(path)
    expect(Exit.isFailure(exit)).toBe(true)
  })
)

it.live("closing a scope twice leaves the lock of another holder alone", () =>
  Effect.gen(function* () {
    const path = yield* directory
    const scope = yield* Scope.make()
    yield* lockDataDirectory(path).pipe(Scope.provide(scope))
    rmSync(lockFile(path))
    writeFileSync(lockFile(path), "another's")
    yield* Scope.close(scope, Exit.void)
    expect(readFileSync(lockFile(path), "utf8")).toBe("another's")
  })
)
