/** One connection to the embedded database: a stream that speaks the wire protocol of PostgreSQL. */
import { Duplex } from "node:stream"
import { hello, message } from "./PgliteFrames.ts"

/** The part of the bridge that all wires share. */
export interface Backend {
  /** The wires that listen on each channel. */
  readonly listeners: Map<string, Set<Wire>>
  readonly nextId: () => number
  readonly submit: (wire: Wire, bytes: Buffer) => void
  readonly close: (wire: Wire) => void
}

/**
 * Sees each batch of frames that a wire sends (usually one statement) before the backend does, and passes it on or not.
 */
export type Gate = (wire: Duplex, batch: Buffer, pass: (batch: Buffer) => void) => void

const SSL_REQUEST = 80877103
const CANCEL_REQUEST = 80877102
/** Sync, Query, Flush, CopyDone, CopyFail: the frames after which a client waits for a reply. */
const ENDS_BATCH = "SQHcf"

const OPEN: Gate = (_wire, batch, pass) => pass(batch)

export class Wire extends Duplex {
  private readonly bridge: Backend
  private readonly gate: Gate
  private readonly prepared = new Set<string>()
  private buffer: Buffer = Buffer.alloc(0)
  private batch: Array<Buffer> = []
  private started = false

  constructor(bridge: Backend, gate: Gate = OPEN) {
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

  /**
   * LISTEN belongs to a connection, but the backend is shared: this keeps the listeners itself and never sends
   * UNLISTEN.
   */
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
