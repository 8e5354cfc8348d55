/**
 * Ends requests whose body stops arriving, by the timer that Node restarts with each byte of a socket. A body that waits for this
 * server, because the server reads slowly, does not count. The module does not bound whole requests or answers.
 */
import type { IncomingMessage, Server } from "node:http"
import type { Socket } from "node:net"
import type { PipelinedRequests } from "./PipelinedRequests.ts"

/** Calls `end` for each request without a byte for `silenceMs` milliseconds, and closes idle kept-alive connections. */
export const watchSilence = (
  server: Server,
  pipelines: PipelinedRequests,
  silenceMs: number,
  end: (socket: Socket, request: IncomingMessage) => void
): void => {
  server.setTimeout(silenceMs, (socket: Socket) => {
    const request = pipelines.newest(socket)
    // Before the first request the limit of headers holds.
    if (request === undefined) return
    if (request === "none") socket.destroy()
    else if (request.complete) return
    else if (isHeldBack(request)) socket.setTimeout(silenceMs)
    else end(socket, request)
  })
}

/** True if bytes of a body wait for this server, not for the caller. */
const isHeldBack = (source: IncomingMessage): boolean =>
  source.socket.isPaused() || source.isPaused() || source.readableLength >= source.readableHighWaterMark
