/**
 * kill -9 of the server, 50 times, while jobs are queued, launching, starting, running and stopping: nothing is lost,
 * nothing is charged twice, every log is exact. The simulated machines live on, as real ones do.
 */
import { openEmbedded, postgres } from "@sluice/server/database/Database"
import { Effect, Layer, Redacted } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { describeOnPostgres, freshDatabase } from "@sluice/testing/engines/Postgres"
import { type ServerProcess, temporaryDirectory } from "@sluice/testing/servers/ServerProcess"
import { servers } from "./support/Servers.ts"
import { audit, check, type Expected, submitter } from "./support/Workload.ts"

const KILLS = 50
const SPEED = 30
/** Between two jobs of one who submits: each start takes the longer, the more machines run. */
const PAUSE_MS = 800
/** Jobs for each start of the server at most: a busy machine does the same work as an idle one, later. */
const JOBS_PER_START = 4
const STATES = ["queued", "starting", "running"]

/** Small, so that the times of the kills are the same in each run; the seed is printed with a failure. */
const random = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const play = async (server: ServerProcess, seed: number) => {
  const draw = random(seed)
  const found: Array<Expected> = []
  let going = true
  let starts = 1
  let started = await server.start()
  const hasRoom = () => found.length < starts * JOBS_PER_START
  const workers = ["a", "b", "c"].map((name) => submitter(server, name, () => going, found, PAUSE_MS, hasRoom))
  const states = new Map<string, number>()
  const missing = () => STATES.some((status) => !states.has(status))
  // A slow machine starts so late that lives pass while the server is down: then it takes more kills to hit each state.
  for (let kill = 0; kill < KILLS || (missing() && kill < 3 * KILLS); kill++) {
    // A machine on which a start takes longer takes longer for all that comes after it, too.
    await sleep(50 + draw() * Math.max(900, started))
    const seen = await server.call("GET", "/api/v1/jobs?limit=50").catch(() => undefined)
    for (const job of seen?.json?.data ?? []) states.set(job.status, (states.get(job.status) ?? 0) + 1)
    await server.end("SIGKILL")
    started = await server.start()
    starts++
  }
  going = false
  await Promise.all(workers)
  const jobs = []
  for (const expected of found) jobs.push(await check(server, expected))
  return { jobs, states }
}

const report = (store: string, played: Awaited<ReturnType<typeof play>>) => {
  assert.isAbove(played.jobs.length, 30)
  for (const status of STATES) assert.isAbove(played.states.get(status) ?? 0, 0, `${status} was never hit`)
  const ends = new Map<string, number>()
  for (const job of played.jobs) ends.set(job.status, (ends.get(job.status) ?? 0) + 1)
  console.log(`${store}: ${KILLS} kills, ${played.jobs.length} jobs: ${JSON.stringify(Object.fromEntries(ends))}`)
}

const begin = servers({ speed: SPEED })

describe("A server on the embedded store that is killed", () => {
  it("loses nothing and doubles nothing", { timeout: 1_800_000 }, async () => {
    const directory = temporaryDirectory()
    const server = await begin(directory.path)
    const played = await play(server, 42)
    await server.end("SIGTERM")
    assert.deepStrictEqual(
      await Effect.runPromise(Effect.scoped(Effect.provide(audit, openEmbedded(directory.path)))),
      []
    )
    report("embedded", played)
    directory.remove()
  })
})

describeOnPostgres("A server on PostgreSQL that is killed", () => {
  it("loses nothing and doubles nothing", { timeout: 1_800_000 }, async () => {
    const directory = temporaryDirectory()
    const test = Effect.gen(function* () {
      const url = yield* freshDatabase
      const server = yield* Effect.promise(() => begin(directory.path, url))
      const played = yield* Effect.promise(() => play(server, 43))
      yield* Effect.promise(() => server.end("SIGTERM"))
      const clients = postgres({ url: Redacted.make(url), speed: 1 })
      assert.deepStrictEqual(yield* Effect.scoped(Effect.provide(audit, Layer.fresh(clients))), [])
      report("PostgreSQL", played)
    })
    await Effect.runPromise(Effect.scoped(test))
    directory.remove()
  })
})
