/**
 * How many requests of one connection are answered at once. Whoever writes the next ones before an answer came waits with
 * them: else one connection could begin as many as it can send. Nothing keeps these from coming, as Node reads on after each
 * that is whole, and holds what it read of their bodies. So they are counted, with their bytes: a connection that has far more
 * waiting than any client writes is closed.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"

/** Answered at once; browsers and clients of ours write one. */
export const MAX_CONCURRENT = 16

/** Of one connection: more than what one read can bring. */
export const MAX_WAITING = 1_500
/** Of all connections together: some kilobytes each. */
const MAX_WAITING_IN_ALL = 15_000

/** Bytes of those that wait, of one connection. */
export const MAX_BYTES = 2 * 1024 * 1024
export const MAX_BYTES_IN_ALL = 16 * MAX_BYTES
/** Of a body that nobody reads yet Node holds no more; then it waits for a reader. */
export const MAX_BODY_BYTES = 128 * 1024

interface Held {
  readonly source: IncomingMessage
  readonly response: ServerResponse
  readonly bytes: number
}

interface ConnectionQueue {
  /** Begun, and neither answered nor left. No set: what comes and goes in one may outlive its time (FiberPool.ts). */
  readonly open: Array<ServerResponse>
  /** Read already, in what came with the others. */
  readonly held: Array<Held>
  /** Of what is held. */
  bytes: number
}

export class PipelinedRequests {
  private readonly lines = new WeakMap<Duplex, ConnectionQueue>()
  private waiting = 0
  private bytes = 0
  private readonly start: (source: IncomingMessage, response: ServerResponse, over: () => void) => void

  /** `start` begins a request, and calls `over` once its answer has left or its caller has gone. */
  constructor(start: (source: IncomingMessage, response: ServerResponse, over: () => void) => void) {
    this.start = start
  }

  /** A request has come: it begins now or in its turn. */
  enter(source: IncomingMessage, response: ServerResponse): void {
    const { socket } = source
    // Closed, it still tells the rest of what was read.
    if (socket.destroyed) return
    const line = this.lineOf(socket)
    if (line.open.length < MAX_CONCURRENT) return this.begin(socket, line, source, response)
    const bytes = bytesOf(source)
    line.held.push({ source, response, bytes })
    this.count(line, 1, bytes)
    const isLong = line.held.length > MAX_WAITING || line.bytes > MAX_BYTES
    if (isLong || this.waiting > MAX_WAITING_IN_ALL || this.bytes > MAX_BYTES_IN_ALL) socket.destroy()
  }

  /** Whether an answer has begun and goes on: whatever else is written now would be read as more of it. */
  isWithinAnswer(socket: Duplex): boolean {
    for (const response of this.lines.get(socket)?.open ?? []) {
      if (response.socket === socket && response.headersSent && !response.writableEnded) return true
    }
    return false
  }

  private begin(socket: Socket, line: ConnectionQueue, source: IncomingMessage, response: ServerResponse): void {
    line.open.push(response)
    this.start(source, response, () => {
      line.open.splice(line.open.indexOf(response), 1)
      const next = socket.destroyed ? undefined : line.held.shift()
      if (next === undefined) return
      this.count(line, -1, -next.bytes)
      this.begin(socket, line, next.source, next.response)
    })
  }

  private count(line: ConnectionQueue, requests: number, bytes: number): void {
    this.waiting += requests
    this.bytes += bytes
    line.bytes += bytes
  }

  private lineOf(socket: Socket): ConnectionQueue {
    const known = this.lines.get(socket)
    if (known !== undefined) return known
    const line: ConnectionQueue = { open: [], held: [], bytes: 0 }
    this.lines.set(socket, line)
    socket.on("close", () => this.count(line, -line.held.splice(0).length, -line.bytes))
    return line
  }
}

const bytesOf = ({ headers, rawHeaders, url = "" }: IncomingMessage): number => {
  const head = rawHeaders.reduce((sum, text) => sum + text.length, url.length)
  const body = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : MAX_BODY_BYTES
  return head + Math.min(body, MAX_BODY_BYTES)
}
