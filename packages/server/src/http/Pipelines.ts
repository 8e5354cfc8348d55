/**
 * How many requests of one connection are answered at once. Whoever writes the next ones before an answer came waits with
 * them: else one connection could begin as many as it can send. It is not read from meanwhile, as far as Node keeps to that
 * (an answer that leaves has it read on); one that has far more waiting than any client writes is closed.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Answered at once; browsers and clients of ours write one. */
export const MOST_AT_ONCE = 16

/** Of one connection: more than what one read can bring. */
export const MOST_WAITING = 1_500
/** Of all connections together: some kilobytes each. */
const MOST_WAITING_OF_ALL = 15_000

interface Line {
  /** Begun, and neither answered nor left. */
  open: number
  /** Read already, in what came with the others. */
  readonly held: Array<() => void>
}

export class Pipelines {
  private readonly lines = new WeakMap<Socket, Line>()
  private waiting = 0
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
    if (line.open < MOST_AT_ONCE) return this.begin(socket, line, source, response)
    if (line.held.length >= MOST_WAITING || this.waiting >= MOST_WAITING_OF_ALL) return void socket.destroy()
    line.held.push(() => this.begin(socket, line, source, response))
    this.waiting++
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
    if (socket.destroyed) {
      this.waiting -= line.held.splice(0).length
      return
    }
    this.waiting--
    line.held.shift()!()
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
