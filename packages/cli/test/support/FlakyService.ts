/**
 * Serves one job on an unreliable network: the answer to the first submission is lost, and every log stream is cut
 * after a few events. The command line must still print the whole log.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface Flaky {
  readonly url: string
  readonly submissions: Array<{ readonly key: string; readonly body: string }>
  readonly logRequests: Array<string>
  readonly cancels: Array<string>
  readonly close: () => Promise<void>
}

interface Options {
  readonly log: Buffer
  /** Bytes in one event; a stream is cut after three events. */
  readonly eventBytes: number
  /** The job never ends by itself. */
  readonly endless?: boolean
}

export const ID = "01990000-0000-7000-8000-000000000001"
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const job = (status: string, log: Buffer) => ({
  id: ID,
  name: "job-01990000",
  status,
  command: "x",
  gpu_type: "H100",
  gpu_count: 1,
  template: "ubuntu-devbox",
  image: null,
  env_keys: [],
  storage_id: null,
  max_runtime_minutes: 60,
  exit_code: status === "failed" ? 7 : null,
  error: null,
  instance_id: null,
  environment_id: ID,
  created_at: "2026-01-01T00:00:00.000Z",
  started_at: "2026-01-01T00:00:05.000Z",
  ended_at: status === "failed" ? "2026-01-01T00:01:10.000Z" : null,
  cost_per_hour: 2.5,
  cost_usd: 0.0451,
  log_bytes: log.length,
  logs_truncated: false,
  cancel_requested_at: null,
  status_reason: null,
  region: null,
  labels: null,
  rerun_of: null
})

const quote = {
  cost_per_hour: 2.5,
  max_cost_usd: 3.125,
  available_usd: 100,
  budget_remaining_usd: null,
  affordable: true,
  launch_script_bytes: 900,
  launch_script_limit_bytes: 16_384
}

const startOfTail = (log: Buffer, lines: number) =>
  log.length - log.toString("latin1").split("\n").slice(-lines).join("\n").length

export const flakyService = async (options: Options): Promise<Flaky> => {
  const submissions: Flaky["submissions"] = []
  const logRequests: Array<string> = []
  const cancels: Array<string> = []
  const json = (response: ServerResponse, status: number, body: unknown) =>
    response
      .writeHead(status, { "content-type": "application/json", "x-request-id": "req-1" })
      .end(JSON.stringify(body))

  const events = (response: ServerResponse, from: number) => {
    const { log, eventBytes } = options
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(`event: status\ndata: ${JSON.stringify(job("running", log))}\n\n`)
    let at = from
    for (let sent = 0; at < log.length && sent < 3; sent++) {
      const next = Math.min(log.length, at + eventBytes)
      const text = decoder.decode(log.subarray(at, next))
      response.write(`id: ${next}\nevent: log\ndata: ${JSON.stringify({ text })}\n\n`)
      at = next
    }
    if (options.endless) return
    if (at < log.length) return void setImmediate(() => response.destroy())
    response.end(`event: end\ndata: {"status":"failed","exit_code":7}\n\n`)
  }

  const route = (request: IncomingMessage, response: ServerResponse, body: string) => {
    const url = new URL(request.url ?? "/", "http://x")
    const path = url.pathname.replace("/api/v1/jobs", "")
    if (request.method === "POST" && path === "/quote") return json(response, 200, { data: quote })
    if (request.method === "POST" && path === `/${ID}/cancel`) {
      cancels.push(ID)
      return json(response, 200, { data: job("running", options.log) })
    }
    if (request.method === "POST") {
      submissions.push({ key: String(request.headers["idempotency-key"]), body })
      if (submissions.length === 1) return request.socket.destroy()
      return json(response, 201, { data: job("queued", options.log) })
    }
    if (path !== `/${ID}/logs`) return json(response, 200, { data: job("failed", options.log) })
    logRequests.push(url.search)
    const tail = url.searchParams.get("tail")
    const offset = tail === null ? Number(url.searchParams.get("offset") ?? 0) : startOfTail(options.log, Number(tail))
    if (request.headers.accept === "text/event-stream") return events(response, offset)
    return response.end(options.log.subarray(offset))
  }

  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += chunk))
    request.on("end", () => route(request, response, body))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`,
    submissions,
    logRequests,
    cancels,
    close
  }
}
