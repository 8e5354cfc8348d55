/**
 * How does a PostgreSQL client talk to PGlite? Through Duplex streams that speak the wire protocol: many connections
 * ("wires") over the one backend of a PGlite.
 *
 * The backend is handed to another wire only when it is idle (ReadyForQuery 'I'), so transactions never mix. A wire that
 * ends rolls its transaction back and closes its prepared statements: the backend outlives it and would keep them.
 * What one backend cannot give: advisory locks between wires, SET per wire, cancelling a running query.
 */
import type { PGlite } from "@electric-sql/pglite"
import { Duplex } from "node:stream"
import { answerOf } from "./PgliteAnswer.ts"
import { BackendType, hello, message, readyStatus, TransactionStatus } from "./PgliteFrames.ts"

/** `stream`: a new wire each call, for `PgClient.make`. `stop` must be awaited before the database is closed. */
export const makePgliteStream = (db: PGlite) => {
  const bridge = new Bridge((bytes) => db.runExclusive(() => answerOf(db, bytes)))
  return { stream: (): Duplex => new Wire(bridge), stop: () => bridge.stop() }
}

/** Decides about each batch of frames that a wire sends (a statement, as a rule) before the backend sees it. */
export type Gate = (wire: Duplex, batch: Buffer, pass: (batch: Buffer) => void) => void

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

class Bridge {
  readonly listeners = new Map<string, Set<Wire>>()
  private readonly queue: Array<readonly [wire: Wire, bytes: Buffer]> = []
  private readonly execute: Execute
  /** The wire inside a transaction or an unfinished pipeline: nobody else may use the backend. */
  private owner: Wire | undefined
  private running = false
  private stopped = false
  private drained: Promise<void> = Promise.resolve()
  private lastId = 0

  constructor(execute: Execute) {
    this.execute = execute
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
      try {
        const answer = this.execute(bytes)
        if (!(answer instanceof Promise)) {
          this.deliver(wire, answer)
          continue
        }
        this.deliver(wire, await answer)
      } catch (cause) {
        if (this.owner === wire) this.owner = undefined
        wire.destroy(cause instanceof Error ? cause : new Error("PGlite failed"))
      }
      if (performance.now() > turnAt) {
        await new Promise<void>((resume) => setImmediate(resume))
        turnAt = performance.now() + TURN_AFTER_MS
      }
    }
    this.running = false
  }

  private deliver(wire: Wire, out: Buffer): void {
    const kept: Array<Buffer> = []
    let idle = false
    for (let at = 0, end = 0; at < out.length; at = end) {
      end = at + 1 + out.readInt32BE(at + 1)
      if (out[at] === BackendType.readyForQuery) idle = readyStatus(out, at) === TransactionStatus.idle
      if (out[at] !== BackendType.notification) {
        kept.push(out.subarray(at, end))
        continue
      }
      const channel = out.toString("utf8", at + 9, out.indexOf(0, at + 9))
      for (const listener of this.listeners.get(channel) ?? []) listener.push(Buffer.from(out.subarray(at, end)))
    }
    this.owner = idle ? undefined : wire
    if (wire.destroyed) this.close(wire)
    else if (kept.length > 0) wire.push(Buffer.concat(kept))
  }
}

const SSL_REQUEST = 80877103
const CANCEL_REQUEST = 80877102
/** Sync, Query, Flush, CopyDone, CopyFail: what the client waits for an answer after. */
const ENDS_BATCH = "SQHcf"

const OPEN: Gate = (_wire, batch, pass) => pass(batch)

class Wire extends Duplex {
  private readonly bridge: Bridge
  private readonly gate: Gate
  private readonly prepared = new Set<string>()
  private buffer: Buffer = Buffer.alloc(0)
  private batch: Array<Buffer> = []
  private started = false

  constructor(bridge: Bridge, gate: Gate = OPEN) {
    super()
    this.bridge = bridge
    this.gate = gate
  }

  override _read(): void {}

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.bridge.close(this)
    done(error)
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.buffer = this.buffer.length === 0 ? chunk : Buffer.concat([this.buffer, chunk])
    for (let frame = this.takeFrame(); frame !== undefined; frame = this.takeFrame()) {
      if (!this.started) this.start(frame)
      else this.receive(frame)
      if (this.destroyed) break
    }
    done()
  }

  takeCloseFrames(): Array<Buffer> {
    const frames = [...this.prepared].map((name) => message("C", `S${name}`))
    this.prepared.clear()
    return frames
  }

  /** The first packet has no type byte. */
  private takeFrame(): Buffer | undefined {
    const head = this.started ? 1 : 0
    if (this.buffer.length < head + 4) return undefined
    const length = head + this.buffer.readInt32BE(head)
    if (this.buffer.length < length) return undefined
    const frame = this.buffer.subarray(0, length)
    this.buffer = this.buffer.subarray(length)
    return frame
  }

  private start(frame: Buffer): void {
    const code = frame.readInt32BE(4)
    if (code === SSL_REQUEST) this.push("N")
    else if (code === CANCEL_REQUEST) this.end_()
    else {
      this.started = true
      this.push(hello(this.bridge.nextId()))
    }
  }

  private receive(frame: Buffer): void {
    const type = String.fromCharCode(frame[0]!)
    if (type === "X") return this.end_()
    this.remember(type, frame)
    this.batch.push(this.listen(type, frame))
    if (!ENDS_BATCH.includes(type)) return
    this.gate(this, Buffer.concat(this.batch.splice(0)), (batch) => {
      if (!this.destroyed) this.bridge.submit(this, batch)
    })
  }

  private end_(): void {
    this.push(null)
    this.destroy()
  }

  private remember(type: string, frame: Buffer): void {
    if (type !== "P" && type !== "C") return
    const at = type === "P" ? 5 : 6
    const name = frame.toString("utf8", at, frame.indexOf(0, at))
    if (name === "") return
    if (type === "P") this.prepared.add(name)
    else if (frame[5] === 0x53) this.prepared.delete(name)
  }

  /** LISTEN is per connection but the backend is shared: keep the listeners here, never send UNLISTEN. */
  private listen(type: string, frame: Buffer): Buffer {
    if (type !== "P" && type !== "Q") return frame
    const sqlAt = type === "Q" ? 5 : frame.indexOf(0, 5) + 1
    const found = /^(UN)?LISTEN "((?:[^"]|"")+)"/.exec(frame.toString("utf8", sqlAt, sqlAt + 160))
    if (found === null) return frame
    const channel = found[2]!.replaceAll('""', '"')
    const wires = this.bridge.listeners.get(channel) ?? new Set()
    this.bridge.listeners.set(channel, wires)
    if (found[1] === undefined) {
      wires.add(this)
      return frame
    }
    wires.delete(this)
    const nothing = Buffer.from("SELECT\0" + (type === "P" ? "\0\0" : ""))
    return message(type, Buffer.concat([frame.subarray(5, sqlAt), nothing]))
  }
}
