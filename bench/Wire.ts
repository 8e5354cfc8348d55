/**
 * One kept-alive connection that repeats one request. It reads only the status and the end of each answer, so that the client
 * costs little beside the measured server: a full HTTP client takes as long as a short answer.
 */
import { connect, type Socket } from "node:net"

export interface Target {
  readonly port: number
  readonly path: string
  readonly key: string
  readonly body: string
}

const HEAD_END = Buffer.from("\r\n\r\n")
const CHUNKS_END = Buffer.from("0\r\n\r\n")

export class Wire {
  readonly #socket: Socket
  readonly #request: Buffer
  #parts: Array<Buffer> = []
  #told: { readonly resolve: (status: number) => void; readonly reject: (cause: Error) => void } | undefined

  constructor({ body, key, path, port }: Target) {
    const head = [
      `POST ${path} HTTP/1.1`,
      `host: 127.0.0.1:${port}`,
      `authorization: Bearer ${key}`,
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(body)}`
    ]
    this.#request = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`)
    this.#socket = connect({ host: "127.0.0.1", port, noDelay: true })
    this.#socket.on("data", (part: Buffer) => this.#heard(part))
    this.#socket.on("error", (cause) => this.#told?.reject(cause))
    this.#socket.on("close", () => this.#told?.reject(new Error("the connection was closed before the answer's end")))
  }

  /** Sends the request once. Resolves with the status when the answer is complete. */
  ask(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#told = { resolve, reject }
      this.#socket.write(this.#request)
    })
  }

  end(): void {
    this.#told = undefined
    this.#socket.destroy()
  }

  #heard(part: Buffer): void {
    this.#parts.push(part)
    const heard = this.#parts.length === 1 ? part : Buffer.concat(this.#parts)
    if (!isWhole(heard)) return
    this.#parts = []
    // "HTTP/1.1 200"
    this.#told?.resolve(Number(heard.toString("latin1", 9, 12)))
  }
}

const isWhole = (heard: Buffer): boolean => {
  const end = heard.indexOf(HEAD_END)
  if (end < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(heard.toString("latin1", 0, end))?.[1]
  return length === undefined
    ? heard.subarray(-CHUNKS_END.length).equals(CHUNKS_END)
    : heard.length >= end + HEAD_END.length + Number(length)
}
