/**
 * Measures Sluice beside its peers in one run: jobs beside pg-boss behind bare HTTP, chat beside a raw node:http server, both on
 * one PostgreSQL; and the test double beside aimock.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { freshDatabase } from "@sluice/testing/engines/Postgres"
import { freePort, temporaryDirectory, TEST_KEY } from "@sluice/testing/servers/ServerProcess"
import { postgresPids } from "./Cpu.ts"
import { double } from "./Double.ts"
import type { Measured } from "./Load.ts"
import {
  measureClosedLoop,
  inTurns,
  median,
  order,
  pause,
  type Peer,
  print,
  report,
  rounds,
  startServer,
  table,
  two,
  wants,
  whole
} from "./Peers.ts"

// Commits wait for the disk, on both sides.
process.env["SLUICE_TEST_FSYNC"] = "on"

const jobs = async (url: string, postgres: () => ReadonlyArray<number>, ours: ReadonlyArray<Peer>) => {
  const port = await freePort()
  const child = await startServer("peers/pg-boss-server.ts", port, url)
  const boss: Peer = { name: "pg-boss", pids: [child.pid!], target: { port, path: "/jobs", key: "", body: "{}" } }
  report("POST /jobs to 201", await measureClosedLoop([boss, ...ours], postgres), "pg-boss")
  await pause(10_000)
  const worker = await freePort()
  const working = await startServer("peers/pg-boss-server.ts", worker, url, "notify")
  const usual = {
    ...boss,
    name: "pg-boss, work() and NOTIFY",
    pids: [working.pid!],
    target: { ...boss.target, port: worker }
  }
  const peers = [boss, usual, ours.at(-1)!]
  const starts = new Map<string, Array<number>>()
  const lives = new Map<string, Array<number>>()
  for (let round = 0; round < rounds; round++) {
    await inTurns(peers, round, async (peer) => {
      const times = await order<ReadonlyArray<number>>("start", peer.target, 60)
      starts.set(peer.name, [...(starts.get(peer.name) ?? []), median(times)])
      lives.set(peer.name, [...(lives.get(peer.name) ?? []), await order<number>("lives", peer.target, 500)])
    })
  }
  const of = (figures: Map<string, Array<number>>, name: string) => median(figures.get(name) ?? [])
  print("POST to running, one job at a time; whole lives of 500 jobs submitted by 32 clients")
  table(
    ["", "POST to running, p50 ms", "x pg-boss", "whole lives/s"],
    peers.map(({ name }) => [
      name,
      two(of(starts, name)),
      two(of(starts, name) / of(starts, "pg-boss")),
      whole(of(lives, name))
    ])
  )
  child.kill("SIGKILL")
  working.kill("SIGKILL")
}

const question = "Explain in two sentences why a ledger keeps two entries for each transaction."
const chat = async (postgres: () => ReadonlyArray<number>, peer: Peer) => {
  const port = await freePort()
  const child = await startServer("peers/raw-server.ts", port)
  const messages = [{ role: "user", content: question }]
  const body = JSON.stringify({ model: "sluice-small", max_tokens: 32, messages })
  const target = { ...peer.target, path: "/v1/chat/completions", body }
  const raw: Peer = { name: "raw node:http", pids: [child.pid!], target: { ...target, port } }
  report("Chat, buffered, usage durable", await measureClosedLoop([raw, { ...peer, target }], postgres), raw.name)
  child.kill("SIGKILL")
}

/** A warmed-up Sluice server on its own database. With `fleet` full no GPU is free: jobs are accepted and wait. */
const sluice = async (name: string, url: string, fleet: "free" | "full"): Promise<Peer> => {
  const directory = temporaryDirectory()
  const port = await freePort()
  const child = await startServer("server.ts", port, url, TEST_KEY, directory.path, fleet)
  process.on("exit", directory.remove)
  // The rate limit of the key refuses no request.
  const made = await fetch(`http://127.0.0.1:${port}/api/v1/api-keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "bench", rate_limit_rpm: 1_000_000 })
  })
  const key: string = JSON.parse(await made.text()).data.key
  const body = JSON.stringify({ command: "true", gpu_type: "H100", max_runtime_minutes: 5 })
  return { name, pids: [child.pid!], target: { port, path: "/api/v1/jobs", key, body } }
}

const run = Effect.gen(function* () {
  const [url, other] = [yield* freshDatabase, yield* freshDatabase]
  const sql = yield* PgClient.make({ url: Redacted.make(url), maxConnections: 1 })
  const rows = yield* sql.unsafe<{ readonly pid: number }>("select pg_backend_pid() as pid")
  yield* Effect.promise(async () => {
    const free = await sluice("sluice", url, "free")
    const peers = wants("jobs") ? [await sluice("sluice, fleet full", other, "full"), free] : [free]
    // The warm-up opens the backends before their time is counted.
    for (const peer of peers) await order<Measured>("closed", peer.target, 1)
    const postgres = () => postgresPids(rows[0]!.pid)
    if (wants("chat")) await chat(postgres, free)
    if (wants("jobs")) await jobs(url, postgres, peers)
  })
}).pipe(Effect.provide(Reactivity.layer), Effect.scoped)

if (wants("jobs") || wants("chat")) await Effect.runPromise(run)
if (wants("double")) await double()
process.exit(0)
