/**
 * kill -9 of the server, 50 times, while jobs are queued, launching, starting, running and stopping: nothing is lost,
 * nothing is charged twice, every log is exact. The simulated machines live on, as real ones do.
 */
import { PgClient } from "@effect/sql-pg"
import { embedded, postgres } from "@sluice/server/database/Database"
import { Effect, Layer, Redacted } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, describe, it } from "vitest"
import { describeOnPostgres, freshDatabase } from "../support/Postgres.ts"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "../support/ServerProcess.ts"
import { auditBooks } from "../support/Tenants.ts"

const KILLS = 50
const SPEED = 30

/** Small, so that the times of the kills are the same in each run; the seed is printed with a failure. */
const random = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

interface Expected {
  readonly id: string
  readonly log: string
  readonly code: number
  readonly cancelled: boolean
}

const lines = (name: string) => Array.from({ length: 6 }, (_, i) => `${name} line ${i + 1}\n`).join("")

/** Submits jobs until told to stop; each is submitted under its own idempotency key until it is answered. */
const submitter = async (server: ServerProcess, name: string, going: () => boolean, found: Array<Expected>) => {
  for (let i = 0; going(); i++) {
    const job = `${name}-${i}`
    const code = i % 3
    const cancelled = i % 5 === 4
    const command = `for i in 1 2 3 4 5 6; do echo $SERVICE_JOB_NAME line $i; sleep ${2 + (i % 4) * 5}; done; exit ${code}`
    const gpu_type = ["H100", "A100", "L40S"][i % 3]
    // A server that is dead most of the time launches late: the wait for capacity must not end a job meanwhile.
    const body = { command, name: job, gpu_type, max_runtime_minutes: 5, capacity_wait_minutes: 1440 }
    const answer = await server.persist("POST", "/api/v1/jobs", body, { "idempotency-key": job })
    if (answer.status === 402) {
      // The money is held for others just now.
      await sleep(500)
      continue
    }
    assert.strictEqual(answer.status, 201, answer.text)
    const id: string = answer.json.data.id
    if (cancelled) {
      const asked = await server.persist("POST", `/api/v1/jobs/${id}/cancel`)
      assert.include([200, 409], asked.status, asked.text)
    }
    found.push({ id, log: lines(job), code, cancelled })
    await sleep(150)
  }
}

const settled = async (server: ServerProcess, id: string) => {
  for (let i = 0; i < 600; i++) {
    const { json } = await server.persist("GET", `/api/v1/jobs/${id}`)
    if (json.data.ended_at !== null) return json.data
    await sleep(100)
  }
  throw new Error(`job ${id} never ended`)
}

const check = async (server: ServerProcess, expected: Expected) => {
  const job = await settled(server, expected.id)
  const log = (await server.persist("GET", `/api/v1/jobs/${expected.id}/logs`)).text
  if (job.status === "cancelled") {
    assert.isTrue(expected.cancelled)
    assert.isTrue(expected.log.startsWith(log), `a prefix of the log:\n${log}`)
  } else {
    assert.strictEqual(job.exit_code, expected.code, JSON.stringify(job))
    assert.strictEqual(job.status, expected.code === 0 ? "succeeded" : "failed")
    assert.strictEqual(log, expected.log)
  }
  assert.strictEqual(job.log_bytes, Buffer.byteLength(log))
  return job
}

/** Each job at most once in the books, at its cost; nothing held, no machine left, no name twice. */
const audit = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const problems = yield* auditBooks
  const rest = yield* sql.unsafe<{ readonly problem: string }>(
    `select 'job ' || j.id || ' cost ' || coalesce(j.cost, 0) || ' and was charged ' || coalesce(e.sum, 0) as problem from jobs j
       left join (select n.txn_id, -sum(n.amount) as sum from entries n join accounts a on a.id = n.account_id group by n.txn_id) e on e.txn_id = j.id
       where coalesce(j.cost, 0) <> coalesce(e.sum, 0)
     union all select 'hold ' || id || ' is open' from holds where state = 'open'
     union all select 'machine ' || id || ' is ' || status from machines where status not in ('stopped', 'failed')
     union all select 'the world runs ' || key || ' still' from sim_machines where stop_at is null
     union all select 'twice: ' || name from jobs group by name having count(*) > 1`
  )
  return [...problems, ...rest].map((row) => row.problem)
})

const play = async (server: ServerProcess, seed: number) => {
  const draw = random(seed)
  const found: Array<Expected> = []
  let going = true
  await server.start()
  const workers = ["a", "b", "c"].map((name) => submitter(server, name, () => going, found))
  const states = new Map<string, number>()
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(50 + draw() * 900)
    const seen = await server.call("GET", "/api/v1/jobs?limit=50").catch(() => undefined)
    for (const job of seen?.json?.data ?? []) states.set(job.status, (states.get(job.status) ?? 0) + 1)
    await server.end("SIGKILL")
    await server.start()
  }
  going = false
  await Promise.all(workers)
  const jobs = []
  for (const expected of found) jobs.push(await check(server, expected))
  return { jobs, states }
}

const report = (store: string, played: Awaited<ReturnType<typeof play>>) => {
  assert.isAbove(played.jobs.length, 30)
  for (const status of ["queued", "starting", "running"])
    assert.isAbove(played.states.get(status) ?? 0, 0, `${status} was never hit`)
  const ends = new Map<string, number>()
  for (const job of played.jobs) ends.set(job.status, (ends.get(job.status) ?? 0) + 1)
  process.stderr.write(
    `${store}: ${KILLS} kills, ${played.jobs.length} jobs: ${JSON.stringify(Object.fromEntries(ends))}\n`
  )
}

const running: Array<ServerProcess> = []
afterAll(() => Promise.all(running.map((server) => server.end("SIGKILL"))))

const begin = async (data: string, databaseUrl?: string) => {
  const server = new ServerProcess({
    port: await freePort(),
    data,
    key: TEST_KEY,
    speed: SPEED,
    ...(databaseUrl === undefined ? {} : { databaseUrl })
  })
  running.push(server)
  return server
}

describe("A server on the embedded store that is killed", () => {
  it("loses nothing and doubles nothing", { timeout: 600_000 }, async () => {
    const directory = temporaryDirectory()
    const server = await begin(directory.path)
    const played = await play(server, 42)
    await server.end("SIGTERM")
    assert.deepStrictEqual(await Effect.runPromise(Effect.scoped(Effect.provide(audit, embedded(directory.path)))), [])
    report("embedded", played)
    directory.remove()
  })
})

describeOnPostgres("A server on PostgreSQL that is killed", () => {
  it("loses nothing and doubles nothing", { timeout: 600_000 }, async () => {
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
