/**
 * How does a PostgreSQL client talk to PGlite? Through Duplex streams that speak the wire protocol: many connections
 * ("wires") over the one backend of a PGlite.
 *
 * The backend is handed to another wire only when it is idle (ReadyForQuery 'I'), so transactions never mix. A wire that
 * ends rolls its transaction back and closes its prepared statements: the backend outlives it and would keep them.
 * What one backend cannot give: advisory locks between wires, SET per wire, cancelling a running query.
 */
import type { PGlite } from "@electric-sql/pglite"
import type { Duplex } from "node:stream"
import { answerOf } from "./PgliteAnswer.ts"
import { BackendType, lastWords, message, readyStatus, TransactionStatus } from "./PgliteFrames.ts"
import { type Backend, type Gate, Wire } from "./PgliteWire.ts"

/** Whether the backend may be used: `lost` is asked before each batch, `died` is told its last words. */
export interface Watch {
  readonly lost: () => Error | undefined
  readonly died: (lastWords: string) => void
}

const UNWATCHED: Watch = { lost: () => undefined, died: () => {} }

/** `stream`: a new wire each call, for `PgClient.make`. `stop` must be awaited before the database is closed. */
export const makePgliteStream = (db: PGlite, watch: Watch = UNWATCHED) => {
  const bridge = new Bridge((bytes) => db.runExclusive(() => answerOf(db, bytes)), watch)
  return { stream: (): Duplex => new Wire(bridge), stop: () => bridge.stop() }
}

/**
 * One backend for many processes of a simulation: the database is called synchronously (`answerNow`), so that no call is
 * ever outstanding when virtual time moves.
 */
export const makePgliteBackend = (execute: (bytes: Uint8Array) => Buffer) => {
  const bridge = new Bridge(execute)
  return {
    stream: (gate: Gate): (() => Duplex) => {
      return () => new Wire(bridge, gate)
    },
    /** Whether a wire is in the middle of a transaction. */
    inTransaction: () => bridge.isOwned
  }
}

/** PGlite resolves on microtasks alone: without a turn now and then, a queue of queries would starve sockets and timers. */
const TURN_AFTER_MS = 4

type Execute = (bytes: Buffer) => Buffer | Promise<Buffer>

class Bridge implements Backend {
  readonly listeners = new Map<string, Set<Wire>>()
  private readonly queue: Array<readonly [wire: Wire, bytes: Buffer]> = []
  private readonly execute: Execute
  private readonly watch: Watch
  /** The wire inside a transaction or an unfinished pipeline: nobody else may use the backend. */
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

  /** Answers what was asked before, and nothing after: a backend that is being closed may spin for ever on it. */
  async stop(): Promise<void> {
    while (this.running) await this.drained
    this.stopped = true
  }

  /** Forgets what the wire still wanted and cleans up what it leaves in the backend. Running it twice is harmless. */
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
    let turnAt = performance.now() + TURN_AFTER_MS
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
      if (performance.now() > turnAt) {
        await new Promise<void>((resume) => setImmediate(resume))
        turnAt = performance.now() + TURN_AFTER_MS
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
    let idle = false
    let last: string | undefined
    for (let at = 0, end = 0; at < out.length; at = end) {
      end = at + 1 + out.readInt32BE(at + 1)
      if (out[at] === BackendType.readyForQuery) idle = readyStatus(out, at) === TransactionStatus.idle
      else if (out[at] === BackendType.error) last ??= lastWords(out, at)
      if (out[at] !== BackendType.notification) {
        kept.push(out.subarray(at, end))
        continue
      }
      const channel = out.toString("utf8", at + 9, out.indexOf(0, at + 9))
      for (const listener of this.listeners.get(channel) ?? []) listener.push(Buffer.from(out.subarray(at, end)))
    }
    this.owner = idle ? undefined : wire
    if (last !== undefined) {
      this.watch.died(last)
      // It waits for a backend that answers nothing more.
      return this.refuse(wire, new Error(last))
    }
    if (wire.destroyed) this.close(wire)
    else if (kept.length > 0) wire.push(Buffer.concat(kept))
  }
}
