/**
 * Bounds the pipelined requests of a connection that are handled at the same time; further ones wait in a queue. Node
 * keeps reading complete requests from the socket and buffers their bodies, so the queue is bounded in requests and
 * bytes. A connection that exceeds a bound, far above what any client sends, is closed.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"

/** Requests of one connection handled at the same time. Browsers and the usual clients send one. */
export const MAX_CONCURRENT = 16

/** Waiting requests of one connection: more than one read from the socket can bring. */
export const MAX_WAITING = 1_500
/** Waiting requests of all connections together: some kilobytes each. */
const MAX_WAITING_IN_ALL = 15_000

/** Bytes of one connection's waiting requests. */
export const MAX_BYTES = 2 * 1024 * 1024
export const MAX_BYTES_IN_ALL = 16 * MAX_BYTES
/** Bytes that Node buffers of a body that no handler reads yet; then it stops reading the socket. */
export const MAX_BODY_BYTES = 128 * 1024

interface WaitingRequest {
  readonly source: IncomingMessage
  readonly response: ServerResponse
  readonly bytes: number
}

interface ConnectionQueue {
  /**
   * Started requests without a complete response. An array, because entries of a long-lived set may be kept long after
   * their removal (FiberPool.ts).
   */
  readonly running: Array<ServerResponse>
  /** Requests that were read and not started yet. */
  readonly pending: Array<WaitingRequest>
  /** Bytes of `pending`. */
  bytes: number
}

export class PipelinedRequests {
  private readonly queues = new WeakMap<Duplex, ConnectionQueue>()
  private waiting = 0
  private bytes = 0
  private readonly start: (source: IncomingMessage, response: ServerResponse, onEnd: () => void) => void

  /** `start` handles a request, and calls `onEnd` once its response has been sent or its caller has disconnected. */
  constructor(start: (source: IncomingMessage, response: ServerResponse, onEnd: () => void) => void) {
    this.start = start
  }

  /** Starts a request, or queues it. */
  enter(source: IncomingMessage, response: ServerResponse): void {
    const { socket } = source
    // The parser still delivers requests that were read before the socket was closed.
    if (socket.destroyed) return
    const queue = this.queueOf(socket)
    if (queue.running.length < MAX_CONCURRENT) return this.begin(socket, queue, source, response)
    const bytes = bytesOf(source)
    queue.pending.push({ source, response, bytes })
    this.count(queue, 1, bytes)
    const isLong = queue.pending.length > MAX_WAITING || queue.bytes > MAX_BYTES
    if (isLong || this.waiting > MAX_WAITING_IN_ALL || this.bytes > MAX_BYTES_IN_ALL) socket.destroy()
  }

  /** True while a response is being written: any other bytes would be read as part of it. */
  isWithinAnswer(socket: Duplex): boolean {
    for (const response of this.queues.get(socket)?.running ?? []) {
      if (response.socket === socket && response.headersSent && !response.writableEnded) return true
    }
    return false
  }

  /** Returns the newest request without a whole response; "none": all have theirs; undefined: the connection had none. */
  newest(socket: Duplex): IncomingMessage | "none" | undefined {
    const queue = this.queues.get(socket)
    return queue === undefined ? undefined : (queue.pending.at(-1)?.source ?? queue.running.at(-1)?.req ?? "none")
  }

  private begin(socket: Socket, queue: ConnectionQueue, source: IncomingMessage, response: ServerResponse): void {
    queue.running.push(response)
    this.start(source, response, () => {
      queue.running.splice(queue.running.indexOf(response), 1)
      const next = socket.destroyed ? undefined : queue.pending.shift()
      if (next === undefined) return
      this.count(queue, -1, -next.bytes)
      this.begin(socket, queue, next.source, next.response)
    })
  }

  private count(queue: ConnectionQueue, requests: number, bytes: number): void {
    this.waiting += requests
    this.bytes += bytes
    queue.bytes += bytes
  }

  private queueOf(socket: Socket): ConnectionQueue {
    const known = this.queues.get(socket)
    if (known !== undefined) return known
    const queue: ConnectionQueue = { running: [], pending: [], bytes: 0 }
    this.queues.set(socket, queue)
    socket.on("close", () => this.count(queue, -queue.pending.splice(0).length, -queue.bytes))
    return queue
  }
}

const bytesOf = ({ headers, rawHeaders, url = "" }: IncomingMessage): number => {
  const head = rawHeaders.reduce((sum, text) => sum + text.length, url.length)
  const body = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : MAX_BODY_BYTES
  return head + Math.min(body, MAX_BODY_BYTES)
}
