/**
 * The server dies at each of its crash points (support/Points.ts) and is started again: before and after each statement that
 * writes and each call of the machines' provider. Then all is done twice that must be repeatable. Afterwards all jobs have
 * ended, the books are right, and no invariant of the simulation is broken.
 *
 * The points are those that the server itself comes to while people work with it; they are printed.
 */
import { PgClient } from "@effect/sql-pg"
import type { DatabaseClients } from "@sluice/server/database/Database"
import { embedded, postgres } from "@sluice/server/database/Database"
import { makeInvariants } from "@sluice/simulation/invariants/Watch"
import { Effect, Layer, Redacted } from "effect"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, describe, it } from "vitest"
import { describeOnPostgres, freshDatabase } from "../support/Postgres.ts"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "../support/ServerProcess.ts"
import { audit, check, type Expected, others, settled, submitter } from "./support/Workload.ts"

/** The longer a downtime is on the clock of the world, the more has happened in it: lives outrun what was held for them. */
const SPEED = 120
/** How long each server that is to die at a point may run until it comes there; some come only after a downtime. */
const PATIENCE_MS = [12_000, 6_000, 6_000, 6_000]
const RECORD_MS = 8_000
const TWICE_MS = 8_000
const YEAR_MS = 31_536_000_000

/** Starts the server so that it dies at `point`; whether it did. */
const dies = async (server: ServerProcess, point: string, patienceMs: number): Promise<boolean> => {
  const child = server.spawn({ CRASH_AT: point })
  const patience = new AbortController()
  const gone = once(child, "exit", { signal: patience.signal }).then(
    () => child.signalCode === "SIGKILL",
    () => false
  )
  const died = await Promise.race([gone, sleep(patienceMs, false, { signal: patience.signal })])
  patience.abort()
  if (!died) await server.end("SIGKILL")
  return died
}

/** Every point that servers came to, in the order in which they first did. */
const pointsOf = (output: string) => [...output.matchAll(/^point (.*)$/gm)].map(([, point]) => point!)

const play = async (server: ServerProcess) => {
  const found: Array<Expected> = []
  let going = true
  await server.start()
  const workers = ["a", "b"].map((name) => submitter(server, name, () => going, found))
  const rest = others(server, () => going)
  await sleep(RECORD_MS)
  await server.end("SIGKILL")
  const points = new Set(pointsOf(server.output))
  const usual = [...points]
  const died = new Set<string>()
  const tried = new Map<string, number>()
  const next = () => [...points].find((point) => !died.has(point) && (tried.get(point) ?? 0) < PATIENCE_MS.length)
  for (let point = next(); point !== undefined; point = next()) {
    const time = tried.get(point) ?? 0
    tried.set(point, time + 1)
    server.output = ""
    if (await dies(server, point, PATIENCE_MS[time]!)) died.add(point)
    for (const seen of pointsOf(server.output)) points.add(seen)
  }
  server.spawn({ CRASH_TWICE: "1" })
  await sleep(TWICE_MS)
  going = false
  await Promise.all(workers)
  for (const id of await rest) await settled(server, id)
  for (const expected of found) await check(server, expected)
  await server.end("SIGTERM")
  return { points: [...points].sort(), usual, died, jobs: found.length + (await rest).length }
}

const holds = Effect.gen(function* () {
  const problems = yield* audit
  const invariants = makeInvariants(yield* PgClient.PgClient)
  yield* invariants.install
  const broken = yield* invariants.check(LATER)
  return [...problems, ...broken.flatMap(({ found, invariant }) => found.map((one) => `${invariant}: ${one}`))]
})
/** Who dies all the time may be late; that a stop keeps its bound is for the simulation to see. */
const LATER = { now: Date.UTC(2100, 0), sweepMs: 100 * YEAR_MS, stopMs: 100 * YEAR_MS }

const verify = (store: string, played: Awaited<ReturnType<typeof play>>, problems: ReadonlyArray<string>) => {
  const { died, jobs, points, usual } = played
  const list = points.map(
    (point) => `  ${point}${died.has(point) ? "" : " (came once, and in four starts not again)"}\n`
  )
  process.stderr.write(
    `${store}: died at ${died.size} of ${points.length} crash points, ${jobs} jobs\n${list.join("")}`
  )
  assert.deepStrictEqual(problems, [])
  const spared = usual.filter((point) => !died.has(point))
  assert.deepStrictEqual(spared, [], "the server never died there")
  for (const store of STORES) {
    for (const when of ["before", "after"]) {
      const here = [...died].some((point) => point.startsWith(store) && point.endsWith(when))
      assert.isTrue(here, `the server never died ${when} a statement of ${store}`)
    }
  }
}
/** Where money, machines and jobs are written. */
const STORES = [
  "JobAdmissionStore",
  "JobStore",
  "MachineStore",
  "OutputStore",
  "MeteringStore",
  "BudgetStore",
  "HoldStore",
  "machines."
]

const running: Array<ServerProcess> = []
afterAll(() => Promise.all(running.map((server) => server.end("SIGKILL"))))

const begin = async (data: string, databaseUrl?: string) => {
  const server = new ServerProcess({
    port: await freePort(),
    data,
    key: TEST_KEY,
    speed: SPEED,
    main: join(import.meta.dirname, "support", "server.ts"),
    ...(databaseUrl === undefined ? {} : { databaseUrl })
  })
  running.push(server)
  return server
}

const judged = <E>(database: Layer.Layer<DatabaseClients, E>) =>
  Effect.runPromise(Effect.scoped(Effect.provide(holds, Layer.fresh(database))))

describe("A server on the embedded store", () => {
  it("survives its death at every crash point", { timeout: 900_000 }, async () => {
    const directory = temporaryDirectory()
    const played = await play(await begin(directory.path))
    verify("embedded", played, await judged(embedded(directory.path)))
    directory.remove()
  })
})

describeOnPostgres("A server on PostgreSQL", () => {
  it("survives its death at every crash point", { timeout: 900_000 }, async () => {
    const directory = temporaryDirectory()
    const test = Effect.gen(function* () {
      const url = yield* freshDatabase
      const played = yield* Effect.promise(async () => play(await begin(directory.path, url)))
      const problems = yield* Effect.promise(() => judged(postgres({ url: Redacted.make(url), speed: 1 })))
      verify("PostgreSQL", played, problems)
    })
    await Effect.runPromise(Effect.scoped(test))
    directory.remove()
  })
})
