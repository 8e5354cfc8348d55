/** Requests written byte by byte, for what no HTTP client would send. */
import { connect } from "node:net"
import { Effect } from "effect"

export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** `lines` is the head, without the empty line; the connection is closed after the answer. */
export const rawRequest = (port: number, lines: ReadonlyArray<string>, body = ""): Effect.Effect<RawAnswer> =>
  Effect.callback((resume) => {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    const done = () => {
      const at = text.indexOf("\r\n\r\n")
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)
      resume(Effect.succeed({ status, head: text.slice(0, at), body: text.slice(at + 4) }))
    }
    socket.on("data", (chunk) => (text += chunk.toString("latin1")))
    socket.on("error", done)
    socket.on("close", done)
    socket.write(`${lines.join("\r\n")}\r\nconnection: close\r\n\r\n${body}`, "latin1")
    return Effect.sync(() => socket.destroy())
  })

/** A connection that is written to in turns; `heard` waits until it is closed or holds, and gives all that came. */
export const rawConnection = (port: number) =>
  Effect.gen(function* () {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    socket.on("data", (chunk) => (text += chunk.toString("latin1")))
    socket.on("error", () => {})
    yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
    return {
      write: (bytes: string) => void socket.write(bytes, "latin1"),
      heard: (pattern: RegExp) =>
        Effect.gen(function* () {
          while (!socket.closed && !pattern.test(text)) yield* Effect.sleep("10 millis")
          return text
        })
    }
  })
