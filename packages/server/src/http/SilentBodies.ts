/**
 * Finds requests whose body stops coming, by the timer that Node restarts with each byte of a socket. A body that waits for
 * this server, because it reads slowly, is never one. It bounds no whole request and no answer.
 */
import type { IncomingMessage, Server } from "node:http"
import type { Socket } from "node:net"
import type { PipelinedRequests } from "./PipelinedRequests.ts"

/** Calls `end` for each request of which no byte came for so many milliseconds; closes kept connections whose time is over. */
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

/** Whether bytes of a body wait for this server, and not for its caller. */
const isHeldBack = (source: IncomingMessage): boolean =>
  source.socket.isPaused() || source.isPaused() || source.readableLength >= source.readableHighWaterMark
