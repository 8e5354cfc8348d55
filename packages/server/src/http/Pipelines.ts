/**
 * How many requests of one connection are answered at once. Whoever writes the next ones before an answer came waits with
 * them, and so does what it writes after that: else one connection could begin as many as it can send.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Answered at once; browsers and clients of ours write one. */
export const MOST_AT_ONCE = 16

interface Line {
  /** Begun, and neither answered nor left. */
  open: number
  /** Read already, in what came with the others. */
  readonly held: Array<() => void>
}

export class Pipelines {
  private readonly lines = new WeakMap<Socket, Line>()
  private readonly start: (source: IncomingMessage, response: ServerResponse, over: () => void) => void

  /** `start` begins a request, and calls `over` once its answer has left or its caller has gone. */
  constructor(start: (source: IncomingMessage, response: ServerResponse, over: () => void) => void) {
    this.start = start
  }

  /** A request has come: it begins now or in its turn. */
  enter(source: IncomingMessage, response: ServerResponse): void {
    const { socket } = source
    const line = this.lineOf(socket)
    if (line.open < MOST_AT_ONCE) return this.begin(socket, line, source, response)
    line.held.push(() => this.begin(socket, line, source, response))
    socket.pause()
  }

  private begin(socket: Socket, line: Line, source: IncomingMessage, response: ServerResponse): void {
    line.open++
    this.start(source, response, () => {
      line.open--
      if (line.held.length > 0) this.goOn(socket, line)
    })
  }

  private goOn(socket: Socket, line: Line): void {
    if (socket.destroyed) return void line.held.splice(0)
    line.held.shift()?.()
    if (line.held.length === 0) socket.resume()
  }

  private lineOf(socket: Socket): Line {
    const known = this.lines.get(socket)
    if (known !== undefined) return known
    const line: Line = { open: 0, held: [] }
    this.lines.set(socket, line)
    return line
  }
}
