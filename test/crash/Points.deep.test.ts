/**
 * The server dies at each of its crash points (support/Points.ts) and is started again: before and after each statement that
 * writes and each call that acts on the world. Then all is done twice that must be repeatable. Afterwards all jobs have
 * ended, the books are right, and no invariant of the simulation is broken.
 *
 * The points are those that the server itself comes to while people work with it; they are printed.
 */
import { PgClient } from "@effect/sql-pg"
import type { DatabaseClients } from "@sluice/server/database/Database"
import { openEmbedded, postgres } from "@sluice/server/database/Database"
import { makeInvariants } from "@sluice/simulation/invariants/InvariantChecker"
import { Effect, Layer, Redacted } from "effect"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { describeOnPostgres, freshDatabase } from "@sluice/testing/engines/Postgres"
import { type ServerProcess, temporaryDirectory } from "@sluice/testing/servers/ServerProcess"
import { servers } from "./support/Servers.ts"
import { audit, check, type Expected, others, awaitSettled, submitter } from "./support/Workload.ts"

/** The longer a downtime is on the clock of the world, the more has happened in it: lives outrun what was held for them. */
const SPEED = 120
/** The time in which a ready server must reach its crash point, for each try. */
const PATIENCE_MS = [8_000, 4_000]
/**
 * Before a later try the server stays down so long: some points come only where a life outran what was held for it, its
 * minute and a quarter of an hour of set-up, 16 minutes of the world's clock.
 */
const DOWN_MS = 9_000
/** Tries of all points; then only the places at which no server died yet are tried on. */
const MAX_TRIES = 40
/** Tries with those. A busy machine makes as many as an idle one, each later. */
const MAX_TRIES_FOR_PLACES = 70
/** The server only lives, so that points come that were not seen before. */
const NO_POINT = "-"
const RECORD_MS = 8_000
const TWICE_MS = 8_000
const YEAR_MS = 31_536_000_000

/** Starts the server so that it dies at `point`; whether it did. */
const dies = async (server: ServerProcess, point: string, patienceMs: number): Promise<boolean> => {
  const child = server.spawn({ CRASH_AT: point })
  const gone = once(child, "exit")
  await server.ready(child)
  await Promise.race([gone, sleep(patienceMs)])
  const died = child.signalCode === "SIGKILL"
  await server.end("SIGKILL")
  return died
}

/** Every point that servers came to, in the order in which they first did. */
const pointsOf = (output: string) => [...output.matchAll(/^point (.*)$/gm)].map(([, point]) => point!)

const play = async (server: ServerProcess) => {
  const found: Array<Expected> = []
  let going = true
  await server.start()
  // Actions of the first start never come again.
  server.output = ""
  const workers = ["a", "b"].map((name) => submitter(server, name, () => going, found))
  const rest = others(server, () => going)
  await sleep(RECORD_MS)
  await server.end("SIGKILL")
  // Money for as long as it takes; what is held at a time still bounds how many jobs there are.
  await server.admin("credit", "--workspace", "default", "--usd", "200", "--reference", "crash points")
  const points = new Set(pointsOf(server.output))
  const died = new Set<string>()
  const tried = new Map<string, number>()
  const tries = (point: string) => tried.get(point) ?? 0
  let made = 0
  const next = () => {
    const missing = PLACES.filter((place) => ![...died].some(place.has))
    const misses = (point: string) => missing.some((place) => place.has(point))
    // Places without a crash so far come first, twice, so that a slow machine reaches each place.
    const alive = [...points]
      .filter((point) => !died.has(point))
      .sort((a, b) => Number(misses(b)) - Number(misses(a)) || tries(a) - tries(b))
    const fresh = made < MAX_TRIES ? alive.find((point) => tries(point) < PATIENCE_MS.length) : undefined
    if (fresh !== undefined || made >= MAX_TRIES_FOR_PLACES) return fresh
    return alive.find(misses) ?? (missing.length > 0 ? NO_POINT : undefined)
  }
  for (let point = next(); point !== undefined; point = next()) {
    const patience = PATIENCE_MS[tries(point)] ?? PATIENCE_MS[0]!
    if (tries(point) > 1 || point === NO_POINT) await sleep(DOWN_MS)
    tried.set(point, tries(point) + 1)
    made++
    server.output = ""
    if (await dies(server, point, patience)) died.add(point)
    for (const seen of pointsOf(server.output)) points.add(seen)
  }
  server.spawn({ CRASH_TWICE: "1" })
  await sleep(TWICE_MS)
  going = false
  await Promise.all(workers)
  for (const id of await rest) await awaitSettled(server, id)
  for (const expected of found) await check(server, expected)
  await server.end("SIGTERM")
  return { points: [...points].sort(), died, jobs: found.length + (await rest).length }
}

const holds = Effect.gen(function* () {
  const problems = yield* audit
  const invariants = makeInvariants(yield* PgClient.PgClient)
  yield* invariants.install
  const broken = yield* invariants.check(LATER)
  return [...problems, ...broken.flatMap(({ found, invariant }) => found.map((one) => `${invariant}: ${one}`))]
})
/** A server that dies all the time may be late. The simulation checks the bound of a stop. */
const LATER = { now: Date.UTC(2100, 0), sweepMs: 100 * YEAR_MS, stopMs: 100 * YEAR_MS, filmMs: 100 * YEAR_MS }

const verify = (store: string, played: Awaited<ReturnType<typeof play>>, problems: ReadonlyArray<string>) => {
  const { died, jobs, points } = played
  const list = points.map((point) => `  ${point}${died.has(point) ? "" : " (it came too rarely)"}\n`)
  console.log(`${store}: died at ${died.size} of ${points.length} crash points, ${jobs} jobs\n${list.join("")}`)
  assert.deepStrictEqual(problems, [])
  const spared = PLACES.filter((place) => ![...died].some(place.has)).map(({ name }) => name)
  assert.deepStrictEqual(spared, [], "the server never died there")
}
/** The writes of money, machines, jobs, videos, volumes, keys and answers: a store, or an action on a table. */
const WRITTEN = [
  "ReconciledStore",
  "JobAdmissionStore",
  "JobStore",
  "MachineStore",
  "OutputStore",
  "MeteringStore",
  "BudgetStore",
  "HoldStore",
  "VideoStore",
  "VolumeStore",
  "with volumes",
  "with api_keys",
  "insert idempotency_keys",
  "update idempotency_keys",
  "machines.",
  "videos."
]
const PLACES = WRITTEN.flatMap((written) =>
  ["before", "after"].map((when) => ({
    name: `${when} ${written}`,
    has: (point: string) => point.includes(written) && point.endsWith(when)
  }))
)

const begin = servers({ speed: SPEED, main: join(import.meta.dirname, "support", "server.ts") })

const judged = <E>(database: Layer.Layer<DatabaseClients, E>) =>
  Effect.runPromise(Effect.scoped(Effect.provide(holds, Layer.fresh(database))))

describe("A server on the embedded store", () => {
  it("survives its death at every crash point", { timeout: 1_800_000 }, async () => {
    const directory = temporaryDirectory()
    const played = await play(await begin(directory.path))
    verify("embedded", played, await judged(openEmbedded(directory.path)))
    directory.remove()
  })
})

describeOnPostgres("A server on PostgreSQL", () => {
  it("survives its death at every crash point", { timeout: 1_800_000 }, async () => {
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
