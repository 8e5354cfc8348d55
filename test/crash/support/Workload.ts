/** Plays users while the server dies: jobs that end by themselves or by a cancel, volumes, keys, chats and videos. Checks the result afterwards. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { assert } from "vitest"
import type { ServerProcess } from "@sluice/testing/servers/ServerProcess"
import { auditBooks } from "@sluice/testing/fixtures/Tenants"

export interface Expected {
  readonly id: string
  readonly log: string
  readonly code: number
  readonly cancelled: boolean
}

const lines = (name: string) => Array.from({ length: 6 }, (_, i) => `${name} line ${i + 1}\n`).join("")

/** Submits jobs until it is stopped, while `hasRoom`. Each has its own idempotency key and is repeated until it is answered. */
export const submitter = async (
  server: ServerProcess,
  name: string,
  going: () => boolean,
  found: Array<Expected>,
  pauseMs = 400,
  hasRoom = () => true
) => {
  for (let i = 0; going(); i++) {
    if (!hasRoom()) {
      await sleep(50)
      i--
      continue
    }
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
    await sleep(pauseMs)
  }
}

/** Jobs that reach the ceiling of their cost, jobs that share a volume one after another, volumes and keys that come and go, budgets that change, chats and videos. */
export const others = async (server: ServerProcess, going: () => boolean): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  const jobs = async (name: string, extra: Record<string, unknown>) => {
    for (let i = 0; going(); i++) {
      const body = {
        name: `${name}-${i}`,
        gpu_type: "A100",
        max_runtime_minutes: 5,
        capacity_wait_minutes: 1440,
        ...extra
      }
      const answer = await server.persist("POST", "/api/v1/jobs", body, { "idempotency-key": `${name}-${i}` })
      // 409: the volume is another job's. 402: the money is held for others.
      assert.include([201, 402, 409], answer.status, answer.text)
      if (answer.status === 201) {
        ids.push(answer.json.data.id)
        await awaitSettled(server, answer.json.data.id, going)
      }
    }
  }
  const shared = await made(server, VOLUMES, { name: "shared", ...SMALL })
  const environments = await server.persist("GET", "/api/v1/environments")
  const chats = async () => {
    for (let i = 0; going(); i++) {
      const messages = [{ role: "user", content: `What is ${i}?` }]
      const body = { model: "sluice-small", messages, max_tokens: 20 }
      const answer = await server.persist("POST", "/v1/chat/completions", body)
      // 402: the money is held for others.
      assert.include([200, 402], answer.status, answer.text)
      const monthly_budget_usd = i % 2 === 0 ? 1_000 : null
      await server.persist("PATCH", `/api/v1/environments/${environments.json.data[0].id}`, { monthly_budget_usd })
    }
  }
  await Promise.all([
    jobs("dear", { command: "sleep 3000", max_runtime_minutes: 1, max_cost_usd: 0.01 }),
    jobs("precious", { command: "sleep 3000", max_runtime_minutes: 1 }),
    jobs("kept", { command: "date >> dates; sleep 3", storage_id: shared.id, region: SMALL.region }),
    volumes(server, going),
    things(server, going),
    chats(),
    films(server, going)
  ])
  return ids
}

const KEYS = "/api/v1/api-keys"
const VOLUMES = "/api/v1/storage"
const SMALL = { size_gb: 1, region: "us-west" }

/** A key or a volume, asked for under its name until it is answered. */
const made = async (server: ServerProcess, path: string, body: { readonly name: string }) => {
  const answer = await server.persist("POST", path, body, { "idempotency-key": body.name })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.json.data
}

const removed = async (server: ServerProcess, path: string) => {
  const answer = await server.persist("DELETE", path)
  // 404: it was heard before, and the answer was lost.
  assert.include([204, 404], answer.status, answer.text)
}

/** Keys and volumes come and go: a key is there once and good, whose name nothing else keeps from being there twice; a volume grows. */
const things = async (server: ServerProcess, going: () => boolean): Promise<void> => {
  for (let i = 0; going(); i++) {
    const name = `thing-${i}`
    const { id, key } = await made(server, KEYS, { name: `${name}-key` })
    const all = await server.persist("GET", KEYS, undefined, { authorization: `Bearer ${key}` })
    assert.strictEqual(all.status, 200, all.text)
    assert.strictEqual(all.text.split(`"${name}-key"`).length - 1, 1, all.text)
    await removed(server, `${KEYS}/${id}`)
    const volume = await made(server, VOLUMES, { name, ...SMALL })
    const grown = await server.persist("PATCH", `${VOLUMES}/${volume.id}`, { size_gb: 2 })
    assert.strictEqual(grown.status, 200, grown.text)
    await removed(server, `${VOLUMES}/${volume.id}`)
    await sleep(500)
  }
}

/** Volumes are made, written to by a job and deleted, one after the other. */
const volumes = async (server: ServerProcess, going: () => boolean): Promise<void> => {
  for (let i = 0; going(); i++) {
    const name = `short-${i}`
    const { id } = await made(server, VOLUMES, { name, ...SMALL })
    const job = { command: "echo kept > file", gpu_type: "A100", max_runtime_minutes: 1, storage_id: id }
    const more = { name, region: SMALL.region, capacity_wait_minutes: 1440 }
    const key = { "idempotency-key": `${name}-job` }
    const answer = await server.persist("POST", "/api/v1/jobs", { ...job, ...more }, key)
    // 402: the money is held for others.
    assert.include([201, 402], answer.status, answer.text)
    if (answer.status === 201) await awaitSettled(server, answer.json.data.id, going)
    await removed(server, `${VOLUMES}/${id}`)
    await sleep(FILM_PAUSE_MS)
  }
}

/** Between two videos: they are made in no time, and must not eat up the money of the jobs. */
const FILM_PAUSE_MS = 3_000

/** Videos are ordered, made and deleted, one after the other; the last one, which no death cuts short, is downloaded. */
const films = async (server: ServerProcess, going: () => boolean): Promise<void> => {
  for (let i = 0; going(); i++) {
    const body = { model: "sluice-film", prompt: `film ${i}`, seconds: "4", size: "640x368" }
    const ordered = await server.persist("POST", "/v1/videos", body)
    // 402: the money is held for others.
    assert.include([200, 402], ordered.status, ordered.text)
    if (ordered.status === 402) {
      await sleep(500)
      continue
    }
    const path = `/v1/videos/${ordered.json.id}`
    const film = await filmed(server, path, going)
    assert.strictEqual(film.status, "completed", JSON.stringify(film))
    if (!going()) {
      const { headers, status } = await server.persist("GET", `${path}/content`)
      assert.deepStrictEqual([status, headers.get("content-type")], [200, "video/mp4"])
    }
    const removed = await server.persist("DELETE", path)
    // 404: it was heard before, and the answer was lost.
    assert.include([200, 404], removed.status, removed.text)
    await sleep(FILM_PAUSE_MS)
  }
}

const filmed = async (server: ServerProcess, path: string, going: () => boolean) => {
  for (let i = 0; i < MAX_LOOKS || going(); i++) {
    const { json } = await server.persist("GET", path)
    if (json.status === "completed" || json.status === "failed") return json
    await sleep(100)
  }
  throw new Error(`${path} never ended`)
}

/** Looks at a job or a video that must end, each after 100 ms: they end a hang, and leave a busy machine minutes. */
const MAX_LOOKS = 6_000

/** Waits until the job has ended. */
export const awaitSettled = async (server: ServerProcess, id: string, going = () => false) => {
  for (let i = 0; i < MAX_LOOKS || going(); i++) {
    const { json } = await server.persist("GET", `/api/v1/jobs/${id}`)
    if (json.data.ended_at !== null) return json.data
    await sleep(100)
  }
  throw new Error(`job ${id} never ended`)
}

export const check = async (server: ServerProcess, expected: Expected) => {
  const job = await awaitSettled(server, expected.id)
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

/** Each job at most once in the books, at its cost; nothing held but for chats that a death left (they expire), no machine left, no name twice. */
export const audit = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const problems = yield* auditBooks
  const rest = yield* sql.unsafe<{ readonly problem: string }>(
    `select 'job ' || j.id || ' cost ' || coalesce(j.cost, 0) || ' and was charged ' || coalesce(e.sum, 0) as problem from jobs j
       left join (select n.txn_id, -sum(n.amount) as sum from entries n join accounts a on a.id = n.account_id group by n.txn_id) e on e.txn_id = j.id
       where coalesce(j.cost, 0) <> coalesce(e.sum, 0)
     union all select 'hold ' || id || ' is open' from holds where state = 'open' and expires_at is null
     union all select 'machine ' || id || ' is ' || status from machines where status not in ('stopped', 'failed')
     union all select 'video ' || id || ' is ' || status from videos where ended_at is null
     union all select 'the world runs ' || key || ' still' from sim_machines where stop_at is null
     union all select 'twice: ' || name from jobs group by name having count(*) > 1`
  )
  return [...problems, ...rest].map((row) => row.problem)
})
