/** Generates load over kept-alive connections in a separate process, so that the client's CPU time is not counted for the server. */
import { type Target, Wire } from "./Wire.ts"
import { Agent, request as httpRequest } from "node:http"

export interface Measured {
  readonly requests: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  readonly failures: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 })

export const call = (
  target: Target,
  method: "GET" | "POST"
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${target.key}`,
      ...(method === "POST"
        ? { "content-type": "application/json", "content-length": Buffer.byteLength(target.body) }
        : {})
    }
    const request = httpRequest(
      { host: "127.0.0.1", port: target.port, path: target.path, method, agent, headers },
      (response) => {
        const parts: Array<Buffer> = []
        response.on("data", (part: Buffer) => parts.push(part))
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }))
      }
    )
    request.on("error", reject)
    request.end(method === "POST" ? target.body : undefined)
  })

export const quantile = (sorted: ReadonlyArray<number>, q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0

/** A closed loop: each of `clients` sends its next request when its last one was answered. */
export const closedLoop = async (target: Target, clients: number, seconds: number): Promise<Measured> => {
  const times: Array<number> = []
  let failures = 0
  const began = performance.now()
  const end = began + seconds * 1_000
  const client = async () => {
    const wire = new Wire(target)
    while (performance.now() < end) {
      const at = performance.now()
      if ((await wire.ask()) >= 300) failures++
      times.push(performance.now() - at)
    }
    wire.end()
  }
  await Promise.all(Array.from({ length: clients }, client))
  const sorted = times.sort((a, b) => a - b)
  return {
    requests: times.length,
    seconds: (performance.now() - began) / 1_000,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    failures
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const ended = ["succeeded", "failed", "cancelled", "timed_out"]

const idOf = (text: string): string => JSON.parse(text).data.id
const statusOf = (text: string): string => JSON.parse(text).data.status

/** Submits jobs one by one to an idle server. Returns the milliseconds from POST to the first GET that shows the job running or ended. */
export const startLatency = async (target: Target, count: number): Promise<ReadonlyArray<number>> => {
  const times: Array<number> = []
  for (let i = 0; i < count; i++) {
    const at = performance.now()
    const id = idOf((await call(target, "POST")).text)
    for (;;) {
      const status = statusOf((await call({ ...target, path: `${target.path}/${id}` }, "GET")).text)
      if (status === "running" || ended.includes(status)) break
      await pause(1)
    }
    times.push(performance.now() - at)
    await pause(20)
  }
  return times.sort((a, b) => a - b)
}

/** Submits `count` jobs with 32 clients, waits until all have ended, and returns whole lives per second. */
export const lifecycles = async (target: Target, count: number): Promise<number> => {
  const began = performance.now()
  let next = 0
  const ids: Array<string> = []
  const client = async () => {
    while (next++ < count) ids.push(idOf((await call(target, "POST")).text))
  }
  await Promise.all(Array.from({ length: 32 }, client))
  const watch = async (offset: number) => {
    for (let i = ids.length - 1 - offset; i >= 0; i -= 8) {
      while (!ended.includes(statusOf((await call({ ...target, path: `${target.path}/${ids[i]}` }, "GET")).text)))
        await pause(5)
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, offset) => watch(offset)))
  return count / ((performance.now() - began) / 1_000)
}

interface Order {
  readonly what: "closed" | "start" | "lives"
  readonly target: Target
  readonly clients: number
  readonly amount: number
}

process.on("message", (order: Order) => {
  const { amount, clients, target, what } = order
  const work: Promise<unknown> =
    what === "closed"
      ? closedLoop(target, clients, amount)
      : what === "start"
        ? startLatency(target, amount)
        : lifecycles(target, amount)
  work.then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) })
  )
})
