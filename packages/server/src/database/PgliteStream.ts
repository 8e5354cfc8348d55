/**
 * Connects PostgreSQL clients to PGlite through Duplex streams that speak the wire protocol: many connections ("wires")
 * over the one backend of a PGlite.
 *
 * The backend passes to another wire only when it is idle (ReadyForQuery 'I'), so transactions never mix. A closed wire
 * rolls its transaction back and closes its prepared statements; the backend outlives the wire and would keep them. One
 * backend does not support advisory locks between wires, SET per wire, or cancelling a running query.
 */
import type { PGlite } from "@electric-sql/pglite"
import type { Duplex } from "node:stream"
import { executeFrames } from "./PgliteAnswer.ts"
import { BackendType, lastWords, message, readyStatus, TransactionStatus } from "./PgliteFrames.ts"
import { type Backend, type Gate, Wire } from "./PgliteWire.ts"

/**
 * Watches the backend. `lost` is called before each batch and returns the error of a lost backend; `died` receives the
 * last error message of a backend that ended.
 */
export interface Watch {
  readonly lost: () => Error | undefined
  readonly died: (lastWords: string) => void
}

const UNWATCHED: Watch = { lost: () => undefined, died: () => {} }

/** `stream` returns a new wire at each call, for `PgClient.make`. Await `stop` before closing the database. */
export const makePgliteStream = (db: PGlite, watch: Watch = UNWATCHED) => {
  const bridge = new Bridge((bytes) => db.runExclusive(() => executeFrames(db, bytes)), watch)
  return { stream: (): Duplex => new Wire(bridge), stop: () => bridge.stop() }
}

/**
 * One backend for many processes of a simulation. The database is called synchronously (`executeFramesNow`), so no call
 * is outstanding when virtual time moves.
 */
export const makePgliteBackend = (execute: (bytes: Uint8Array) => Buffer) => {
  const bridge = new Bridge(execute)
  return {
    stream: (gate: Gate): (() => Duplex) => {
      return () => new Wire(bridge, gate)
    },
    /** True while a wire is inside a transaction. */
    inTransaction: () => bridge.isOwned
  }
}

/**
 * Milliseconds after which the loop yields to the event loop. PGlite resolves on microtasks alone, so a long queue of
 * queries would starve sockets and timers.
 */
const YIELD_AFTER_MS = 4

type Execute = (bytes: Buffer) => Buffer | Promise<Buffer>

class Bridge implements Backend {
  readonly listeners = new Map<string, Set<Wire>>()
  private readonly queue: Array<readonly [wire: Wire, bytes: Buffer]> = []
  private readonly execute: Execute
  private readonly watch: Watch
  /** The wire inside a transaction or an unfinished pipeline. No other wire may use the backend meanwhile. */
  private owner: Wire | undefined
  private running = false
  private stopped = false
  private drained: Promise<void> = Promise.resolve()
  private lastId = 0

  constructor(execute: Execute, watch: Watch = UNWATCHED) {
    this.execute = execute
    this.watch = watch
  }

  get isOwned(): boolean {
    return this.owner !== undefined
  }

  nextId(): number {
    return ++this.lastId
  }

  submit(wire: Wire, bytes: Buffer): void {
    if (this.stopped) return
    this.queue.push([wire, bytes])
    if (!this.running) this.drained = this.drain()
  }

  /**
   * Finishes the queued statements and accepts no more: a backend that is being closed may spin for ever on a new one.
   */
  async stop(): Promise<void> {
    while (this.running) await this.drained
    this.stopped = true
  }

  /** Removes the wire's queued statements and cleans up its state in the backend. Idempotent. */
  close(wire: Wire): void {
    for (let i = this.queue.length; i-- > 0;) if (this.queue[i]![0] === wire) this.queue.splice(i, 1)
    for (const wires of this.listeners.values()) wires.delete(wire)
    const farewell = wire.takeCloseFrames()
    if (this.owner === wire) farewell.unshift(message("S"), message("Q", "ROLLBACK"))
    if (farewell.length > 0) this.submit(wire, Buffer.concat([...farewell, message("S")]))
  }

  private next() {
    const at = this.owner === undefined ? 0 : this.queue.findIndex(([wire]) => wire === this.owner)
    return at < 0 ? undefined : this.queue.splice(at, 1)[0]
  }

  private async drain(): Promise<void> {
    this.running = true
    let yieldAt = performance.now() + YIELD_AFTER_MS
    for (let job = this.next(); job !== undefined; job = this.next()) {
      const [wire, bytes] = job
      const lost = this.watch.lost()
      if (lost !== undefined) {
        this.refuse(wire, lost)
        continue
      }
      try {
        const answer = this.execute(bytes)
        if (!(answer instanceof Promise)) {
          this.deliver(wire, answer)
          continue
        }
        this.deliver(wire, await answer)
      } catch (cause) {
        this.refuse(wire, cause instanceof Error ? cause : new Error("PGlite failed"))
      }
      if (performance.now() > yieldAt) {
        await new Promise<void>((resume) => setImmediate(resume))
        yieldAt = performance.now() + YIELD_AFTER_MS
      }
    }
    this.running = false
  }

  private refuse(wire: Wire, cause: Error): void {
    if (this.owner === wire) this.owner = undefined
    wire.destroy(cause)
  }

  private deliver(wire: Wire, out: Buffer): void {
    const kept: Array<Buffer> = []
    let isIdle = false
    let last: string | undefined
    for (let at = 0, end = 0; at < out.length; at = end) {
      end = at + 1 + out.readInt32BE(at + 1)
      if (out[at] === BackendType.readyForQuery) isIdle = readyStatus(out, at) === TransactionStatus.idle
      else if (out[at] === BackendType.error) last ??= lastWords(out, at)
      if (out[at] !== BackendType.notification) {
        kept.push(out.subarray(at, end))
        continue
      }
      const channel = out.toString("utf8", at + 9, out.indexOf(0, at + 9))
      for (const listener of this.listeners.get(channel) ?? []) listener.push(Buffer.from(out.subarray(at, end)))
    }
    this.owner = isIdle ? undefined : wire
    if (last !== undefined) {
      this.watch.died(last)
      // The client would wait for a backend that does not reply any more.
      return this.refuse(wire, new Error(last))
    }
    if (wire.destroyed) this.close(wire)
    else if (kept.length > 0) wire.push(Buffer.concat(kept))
  }
}
