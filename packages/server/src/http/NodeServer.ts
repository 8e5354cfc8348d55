/**
 * The listening socket: limits on headers, connections and silence, an answer even to what is no HTTP, and a stop that
 * lets running requests finish for a while and then closes what is left (decisions: SIGTERM).
 */
import { createServer, STATUS_CODES } from "node:http"
import type { Server } from "node:http"
import type { Duplex } from "node:stream"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Crypto, Duration, Effect, Layer } from "effect"

const MAX_HEADER_BYTES = 16_384
const MAX_CONNECTIONS = 10_000
const HEADERS_WITHIN_MS = 20_000
const REQUEST_WITHIN_MS = 120_000
/** Longer than the usual 60 s of proxies, so that they close first. */
const KEEP_ALIVE_MS = 65_000
const DRAIN = Duration.seconds(4)

/** Listens from when it is built until its scope closes. */
export const nodeServer = (options: { readonly host: string; readonly port: number }) =>
  Layer.unwrap(
    Effect.map(Crypto.Crypto, (crypto) => {
      const server = makeServer(() => Effect.runSync(Effect.orDie(crypto.randomUUIDv7())))
      const listening = NodeHttpServer.layer(() => server, { ...options, gracefulShutdownTimeout: DRAIN })
      // Released before the socket is: what still streams after the drain is cut, or closing would wait for it.
      const cut = Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections())))
      return Layer.provideMerge(cut, listening)
    })
  )

const makeServer = (newId: () => string): Server => {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_WITHIN_MS,
    requestTimeout: REQUEST_WITHIN_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true
  })
  server.maxConnections = MAX_CONNECTIONS
  server.on("clientError", (error, socket) => refuse(error, socket, newId))
  return server
}

/** What the parser refuses never reaches the router; it gets the same kind of body. */
const refuse = (error: Error & { readonly code?: string }, socket: Duplex, newId: () => string) => {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy()
  const status = error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400
  const requestId = newId()
  const message = "The request is not valid HTTP, too slow, or its headers are too large."
  const body = JSON.stringify({ error: { code: "validation_error", message, details: { request_id: requestId } } })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nx-request-id: ${requestId}\r\n\r\n${body}`
  )
}
