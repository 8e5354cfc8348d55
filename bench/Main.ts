/**
 * Sluice beside its peers in one run, on one PostgreSQL, in turns: jobs beside pg-boss behind bare HTTP, chat beside a raw
 * node:http server. Ratios are taken round by round; medians are printed. Nothing here passes or fails by time.
 */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { join } from "node:path"
import { freshDatabase } from "../test/support/Postgres.ts"
import { freePort, NODE, temporaryDirectory, TEST_KEY } from "../test/support/ServerProcess.ts"
import { cpuSeconds, postgresPids } from "./Cpu.ts"
import type { Measured, Target } from "./Load.ts"

// A commit is a commit: the disk is waited for, on both sides.
process.env["SLUICE_TEST_FSYNC"] = "on"
const args = process.argv.slice(2)
const option = (name: string, fallback: number) => {
  const at = args.indexOf(`--${name}`)
  return at < 0 ? fallback : Number(args[at + 1])
}
const rounds = option("rounds", 5)
const seconds = option("seconds", 4)
const clients = option("clients", 32)
const wants = (what: string) => args.includes(what) || !(args.includes("jobs") || args.includes("chat"))

const here = (file: string) => join(import.meta.dirname, file)
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const children: Array<ChildProcess> = []
/** BENCH_PROF: a directory for the CPU profiles of the servers, which are then asked to end instead of killed. */
const profiles = process.env["BENCH_PROF"]
process.on("exit", () => children.forEach((child) => child.kill(profiles === undefined ? "SIGKILL" : "SIGTERM")))

const started = async (file: string, port: number, ...more: ReadonlyArray<string>): Promise<ChildProcess> => {
  const child = spawn(
    NODE,
    [
      "--no-warnings",
      ...(profiles === undefined || file.startsWith("peers") ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`]),
      here(file),
      String(port),
      ...more
    ],
    {
      stdio: ["ignore", "ignore", "inherit"]
    }
  )
  children.push(child)
  for (let i = 0; i < 300; i++) {
    const up = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false
    )
    if (up) return child
    await pause(100)
  }
  throw new Error(`${file} did not start`)
}

const load = fork(here("Load.ts"), [], { execPath: NODE, execArgv: ["--no-warnings"] })
children.push(load)
const order = <A>(what: "closed" | "start" | "lives", target: Target, amount: number): Promise<A> =>
  new Promise((resolve, reject) => {
    load.once("message", (answer: { readonly result?: A; readonly error?: string }) =>
      answer.error === undefined ? resolve(answer.result!) : reject(new Error(answer.error))
    )
    load.send({ what, target, clients, amount })
  })

interface Peer {
  readonly name: string
  readonly target: Target
  readonly pids: ReadonlyArray<number>
}

const print = (line: string) => process.stdout.write(`${line}\n`)
const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) => {
  print(`| ${head.join(" | ")} |\n|${head.map(() => "---").join("|")}|`)
  for (const row of rows) print(`| ${row.join(" | ")} |`)
  print("")
}
const whole = (n: number) => Math.round(n).toLocaleString("en")
const one = (n: number) => n.toFixed(1)
const two = (n: number) => n.toFixed(2)

const signal = (peers: ReadonlyArray<Peer>, name: "SIGSTOP" | "SIGCONT") =>
  peers.forEach((peer) => peer.pids.forEach((pid) => process.kill(pid, name)))

/** Peers take turns, and begin in turn; those whose turn it is not stand still, or their polling would be counted as load. */
const inTurns = async (peers: ReadonlyArray<Peer>, round: number, measure: (peer: Peer) => Promise<void>) => {
  for (const peer of round % 2 === 0 ? peers : peers.toReversed()) {
    const others = peers.filter((other) => other !== peer)
    signal(others, "SIGSTOP")
    await measure(peer)
    signal(others, "SIGCONT")
    // What a peer left to do is not counted as the next one's.
    await pause(2_000)
  }
}

const closed = async (peers: ReadonlyArray<Peer>, postgres: () => ReadonlyArray<number>) => {
  const figures = new Map(peers.map((peer) => [peer.name, [] as Array<Measured & { cpu: number; pg: number }>]))
  for (const peer of peers) await order<Measured>("closed", peer.target, 2)
  for (let round = 0; round < rounds; round++) {
    await inTurns(peers, round, async (peer) => {
      const pids = postgres()
      const [cpu, pg] = [cpuSeconds(peer.pids), cpuSeconds(pids)]
      const measured = await order<Measured>("closed", peer.target, seconds)
      if (measured.failures > 0) throw new Error(`${peer.name}: ${measured.failures} requests failed`)
      figures.get(peer.name)!.push({ ...measured, cpu: cpuSeconds(peer.pids) - cpu, pg: cpuSeconds(pids) - pg })
    })
  }
  return figures
}

const rate = (x: Measured) => x.requests / x.seconds
const micros = (cpu: number, x: Measured) => (cpu / x.requests) * 1e6

const report = (title: string, figures: Awaited<ReturnType<typeof closed>>, base: string) => {
  const rows = [...figures].map(([name, list]) => {
    const against = figures.get(base)!
    return [
      name,
      whole(median(list.map(rate))),
      two(median(list.map((x, i) => rate(x) / rate(against[i]!)))),
      one(median(list.map((x) => x.p50))),
      one(median(list.map((x) => x.p99))),
      whole(median(list.map((x) => micros(x.cpu, x)))),
      whole(median(list.map((x) => micros(x.pg, x)))),
      two(median(list.map((x, i) => micros(x.cpu, x) / micros(against[i]!.cpu, against[i]!))))
    ]
  })
  print(`${title}, ${clients} clients, ${rounds} rounds of ${seconds} s`)
  table(
    ["", "requests/s", `x ${base}`, "p50 ms", "p99 ms", "CPU us a request", "PostgreSQL us", `server CPU x ${base}`],
    rows
  )
}

const jobs = async (url: string, postgres: () => ReadonlyArray<number>, ours: ReadonlyArray<Peer>) => {
  const port = await freePort()
  const child = await started("peers/pg-boss-server.ts", port, url)
  const boss: Peer = { name: "pg-boss", pids: [child.pid!], target: { port, path: "/jobs", key: "", body: "{}" } }
  report("POST /jobs to 201", await closed([boss, ...ours], postgres), "pg-boss")
  await pause(10_000)
  const peers = [boss, ours.at(-1)!]
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
}

const question = "Explain in two sentences why a ledger keeps two entries for each transaction."
const chat = async (postgres: () => ReadonlyArray<number>, peer: Peer) => {
  const port = await freePort()
  const child = await started("peers/raw-server.ts", port)
  const messages = [{ role: "user", content: question }]
  const body = JSON.stringify({ model: "sluice-small", max_tokens: 32, messages })
  const target = { ...peer.target, path: "/v1/chat/completions", body }
  const raw: Peer = { name: "raw node:http", pids: [child.pid!], target: { ...target, port } }
  report("Chat, buffered, usage durable", await closed([raw, { ...peer, target }], postgres), raw.name)
  child.kill("SIGKILL")
}

/** A server of ours on a database of its own, warmed up; `fleet` full: no GPU is free, jobs are accepted and wait. */
const sluice = async (name: string, url: string, fleet: "free" | "full"): Promise<Peer> => {
  const directory = temporaryDirectory()
  const port = await freePort()
  const child = await started("server.ts", port, url, TEST_KEY, directory.path, fleet)
  process.on("exit", directory.remove)
  // No request is refused by the limit on the key.
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
    // A warm-up opens the backends whose time is counted.
    for (const peer of peers) await order<Measured>("closed", peer.target, 1)
    const postgres = () => postgresPids(rows[0]!.pid)
    if (wants("chat")) await chat(postgres, free)
    if (wants("jobs")) await jobs(url, postgres, peers)
  })
}).pipe(Effect.provide(Reactivity.layer), Effect.scoped)

await Effect.runPromise(run)
process.exit(0)
