/** The spool of uploaded files: its directory while forms arrive, and the clean-up after a killed server. */
import { layer } from "@effect/vitest"
import { Clock, Effect, Fiber, FileSystem, Layer } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { temporaryDirectory } from "@sluice/testing/servers/ServerProcess"
import * as PooledCrypto from "../../src/crypto/PooledCrypto.ts"
import { processIdentity } from "../../src/database/ProcessIdentity.ts"
import { Spool, spoolName } from "../../src/http/Spool.ts"
import { rawRequest } from "@sluice/testing/servers/RawHttp"
import { TestServer, testServerOf } from "@sluice/testing/servers/TestServer"

const spool = Spool.layer.pipe(Layer.provide(PooledCrypto.layer))
/** The service's clock, which is faster than the machine's. */
const fast: Clock.Clock = Object.assign(Object.create(Clock.Clock.defaultValue()), {
  currentTimeMillis: Effect.succeed(Date.UTC(2100, 0))
})
/** Runs synchronously: the socket listens meanwhile and no caller is answered. */
const start = () => Effect.runSync(Effect.provideService(Effect.provide(Effect.void, spool), Clock.Clock, fast))
const own = spoolName(process.pid, processIdentity(process.pid))

const { path, remove } = temporaryDirectory()
beforeEach(() => void vi.stubEnv("TMPDIR", path))
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true })
})
afterAll(remove)

/** A directory with a file, as a killed server leaves it. */
const left = (name: string) => {
  mkdirSync(join(path, name, "aBcDeF"), { recursive: true })
  writeFileSync(join(path, name, "aBcDeF", "voice.wav"), "x")
  return name
}

layer(testServerOf(), { excludeTestServices: true, timeout: "5 minutes" })("a form that comes", (it) => {
  it.effect("keeps its file in a private directory of this process until it is answered", () =>
    Effect.gen(function* () {
      const { alice, port } = yield* TestServer
      const sent = yield* Effect.forkChild(
        rawRequest(
          port,
          [
            "POST /v1/audio/transcriptions HTTP/1.1",
            "Host: localhost",
            `Authorization: Bearer ${alice.key}`,
            "Content-Type: multipart/form-data; boundary=a-line",
            "Content-Length: 2000"
          ],
          `--a-line\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n${"x".repeat(500)}`
        )
      )
      const files = () => readdirSync(path, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
      while (files().length === 0) yield* Effect.sleep("10 millis")
      const [name] = readdirSync(path)
      expect(name).toMatch(new RegExp(`^${own}[0-9a-f-]{36}$`))
      expect(statSync(join(path, name!)).mode & 0o777).toBe(0o700)
      yield* Fiber.interrupt(sent)
      while (readdirSync(join(path, name!)).length > 0) yield* Effect.sleep("10 millis")
    })
  )
})

describe("The directory of a server", () => {
  const form = Effect.scoped(
    Effect.gen(function* () {
      const inner = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      return inner.slice(path.length + 1).split("/")[0]!
    })
  ).pipe(Effect.provideServiceEffect(FileSystem.FileSystem, Spool))

  it("is created with the first form, again after a clean-up, and removed with the server", async () => {
    const both = Effect.gen(function* () {
      expect(readdirSync(path)).toEqual([])
      const first = yield* form
      expect([yield* form, readdirSync(path)]).toEqual([first, [first]])
      rmSync(join(path, first), { recursive: true })
      const second = yield* form
      expect(readdirSync(path)).toEqual([second])
    })
    await Effect.runPromise(Effect.provide(both, spool))
    expect(readdirSync(path)).toEqual([])
  })

  it("has another name where its name is taken, and leaves the other directory alone", async () => {
    const elsewhere = left("elsewhere")
    chmodSync(join(path, elsewhere), 0o700)
    const others: ReadonlyArray<(name: string) => void> = [
      (name) => chmodSync(join(path, left(name)), 0o777),
      (name) => writeFileSync(join(path, name), "x"),
      (name) => symlinkSync(elsewhere, join(path, name)),
      // As if it belonged to another user.
      (name) => void vi.spyOn(process, "getuid").mockReturnValue(left(name).length)
    ]
    const taken: Array<string> = []
    const all = Effect.gen(function* () {
      for (const take of others) {
        const name = yield* form
        rmSync(join(path, name), { recursive: true })
        take(name)
        taken.push(name)
        expect(taken).not.toContain(yield* form)
      }
    })
    await Effect.runPromise(Effect.provide(all, spool))
    expect(readdirSync(path)).toEqual(expect.arrayContaining([elsewhere, ...taken]))
  })

  it("is created once for concurrent forms", async () => {
    const form = Effect.flatMap(Spool, (files) => files.makeTempDirectoryScoped())
    const several = Effect.scoped(Effect.all([form, form, form], { concurrency: "unbounded" }))
    expect(new Set(await Effect.runPromise(Effect.provide(several, spool))).size).toBe(3)
  })

  it("is removed by the next server once its process has ended, and not before", async () => {
    const other = spawn("sleep", ["600"])
    const name = left(`${spoolName(other.pid!, processIdentity(other.pid!))}one`)
    // The pid belonged to another process before.
    left(`${spoolName(other.pid!, { ...processIdentity(other.pid!), startedAt: "before" })}two`)
    const mine = left(`${own}of-another-server-in-this-process`)
    const others = [left("sluice-forms-of-nobody"), left("aBcDeF")]
    start()
    expect(readdirSync(path).toSorted()).toEqual([name, mine, ...others].toSorted())
    other.kill("SIGKILL")
    await once(other, "exit")
    start()
    expect(readdirSync(path).toSorted()).toEqual([mine, ...others].toSorted())
  })

  it("is kept for an hour of the machine's clock where its process can't be looked up", () => {
    const name = left(`${spoolName(1, { place: "another container", startedAt: "" })}one`)
    const aged = (minutes: number) => {
      const at = Date.now() / 1_000 - 60 * minutes
      utimesSync(join(path, name), at, at)
      start()
      return readdirSync(path)
    }
    expect(aged(59)).toEqual([name])
    expect(aged(61)).toEqual([])
  })

  it("is of the same user and has a possible pid in its name; other directories stay", () => {
    const hourAgo = Date.now() / 1_000 - 3_660
    const aged = (name: string) => {
      utimesSync(join(path, left(name)), hourAgo, hourAgo)
      return name
    }
    const elsewhere = aged("not-a-form")
    const file = "sluice-forms-7-a-file"
    writeFileSync(join(path, file), "x")
    utimesSync(join(path, file), hourAgo, hourAgo)
    const loop = "sluice-forms-7-loop"
    symlinkSync(loop, join(path, loop))
    const link = "sluice-forms-7-link"
    symlinkSync(elsewhere, join(path, link))
    const stay = [elsewhere, file, loop, link, aged("sluice-forms-0-x"), aged("sluice-forms--1-x")]
    const gone = [aged("sluice-forms-7-one"), aged("sluice-forms-7-two"), aged("sluice-forms-99999999999999999999-x")]
    const kill = vi.spyOn(process, "kill")
    const user = vi.spyOn(process, "getuid").mockReturnValue(4_242)
    start()
    expect(readdirSync(path).toSorted()).toEqual([...stay, ...gone].toSorted())
    expect(kill).not.toHaveBeenCalledWith(7, 0)
    user.mockRestore()
    start()
    expect(readdirSync(path).toSorted()).toEqual(stay.toSorted())
    expect(kill.mock.calls.filter(([pid]) => pid === 7)).toHaveLength(1)
    expect(readdirSync(join(path, elsewhere))).toEqual(["aBcDeF"])
  })

  it("does not prevent a start where it can't be created", () => {
    vi.stubEnv("TMPDIR", "/there/is/none")
    start()
  })
})
