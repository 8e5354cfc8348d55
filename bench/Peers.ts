/**
 * Runs the benchmarks: each server is a process, the load is another one, and peers take turns. Ratios are taken per round, and
 * medians are printed. Nothing passes or fails by time.
 */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { join } from "node:path"
import { nodeFlags } from "../scripts/launch.mjs"
import { NODE } from "@sluice/testing/servers/ServerProcess"
import { cpuSeconds } from "./Cpu.ts"
import type { Measured } from "./Load.ts"
import type { Target } from "./Wire.ts"

const args = process.argv.slice(2)
const option = (name: string, fallback: number) => {
  const at = args.indexOf(`--${name}`)
  return at < 0 ? fallback : Number(args[at + 1])
}
export const rounds = option("rounds", 5)
export const seconds = option("seconds", 4)
const clients = option("clients", 32)
const named = ["jobs", "chat", "double"].filter((what) => args.includes(what))
export const wants = (what: string) => named.length === 0 || named.includes(what)

const here = (file: string) => join(import.meta.dirname, file)
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
export const median = (values: ReadonlyArray<number>) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const children: Array<ChildProcess> = []
/** BENCH_PROF: a directory for CPU profiles. Servers then end by SIGTERM instead of SIGKILL, so that they write them. */
const profiles = process.env["BENCH_PROF"]
process.on("exit", () => children.forEach((child) => child.kill(profiles === undefined ? "SIGKILL" : "SIGTERM")))

export const startServer = async (
  file: string,
  port: number,
  ...more: ReadonlyArray<string>
): Promise<ChildProcess> => {
  const isOurs = !file.startsWith("peers")
  const child = spawn(
    NODE,
    [
      "--no-warnings",
      // Sluice with the flags of `npm start`; peers with their own defaults.
      ...(isOurs ? nodeFlags : []),
      ...(isOurs && profiles !== undefined ? ["--cpu-prof", `--cpu-prof-dir=${profiles}`] : []),
      here(file),
      String(port),
      ...more
    ],
    { stdio: ["ignore", "ignore", "inherit"] }
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
export const order = <A>(what: "closed" | "start" | "lives", target: Target, amount: number): Promise<A> =>
  new Promise((resolve, reject) => {
    load.once("message", (answer: { readonly result?: A; readonly error?: string }) =>
      answer.error === undefined ? resolve(answer.result!) : reject(new Error(answer.error))
    )
    load.send({ what, target, clients, amount })
  })

export interface Peer {
  readonly name: string
  readonly target: Target
  readonly pids: ReadonlyArray<number>
}

export const print = (line: string) => process.stdout.write(`${line}\n`)
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) => {
  print(`| ${head.join(" | ")} |\n|${head.map(() => "---").join("|")}|`)
  for (const row of rows) print(`| ${row.join(" | ")} |`)
  print("")
}
export const whole = (n: number) => Math.round(n).toLocaleString("en")
export const one = (n: number) => n.toFixed(1)
export const two = (n: number) => n.toFixed(2)

const signal = (peers: ReadonlyArray<Peer>, name: "SIGSTOP" | "SIGCONT") =>
  peers.forEach((peer) => peer.pids.forEach((pid) => process.kill(pid, name)))

/** Peers take turns, and each round begins with another peer. The others are stopped, because their polling would be load. */
export const inTurns = async (peers: ReadonlyArray<Peer>, round: number, measure: (peer: Peer) => Promise<void>) => {
  for (const peer of round % 2 === 0 ? peers : peers.toReversed()) {
    const others = peers.filter((other) => other !== peer)
    signal(others, "SIGSTOP")
    await measure(peer)
    signal(others, "SIGCONT")
    // The rest of a peer's work must end before the next peer is measured.
    await pause(2_000)
  }
}

const WARM_UP_SECONDS = 15

export const measureClosedLoop = async (
  peers: ReadonlyArray<Peer>,
  postgres: () => ReadonlyArray<number> = () => []
) => {
  const figures = new Map(peers.map((peer) => [peer.name, [] as Array<Measured & { cpu: number; pg: number }>]))
  // A server runs for days. The compiler's work of its first seconds is not the cost of a request.
  for (const peer of peers) await order<Measured>("closed", peer.target, WARM_UP_SECONDS)
  for (let round = 0; round < rounds; round++) {
    await inTurns(peers, round, async (peer) => {
      const [cpu, pg] = [cpuSeconds(peer.pids), cpuSeconds(postgres())]
      const measured = await order<Measured>("closed", peer.target, seconds)
      if (measured.failures > 0) throw new Error(`${peer.name}: ${measured.failures} requests failed`)
      figures.get(peer.name)!.push({ ...measured, cpu: cpuSeconds(peer.pids) - cpu, pg: cpuSeconds(postgres()) - pg })
    })
  }
  return figures
}

const rate = (x: Measured) => x.requests / x.seconds
const micros = (cpu: number, x: Measured) => (cpu / x.requests) * 1e6

export const report = (title: string, figures: Awaited<ReturnType<typeof measureClosedLoop>>, base: string) => {
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
