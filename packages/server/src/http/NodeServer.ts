/**
 * The listening socket: limits on headers, connections and silence, an answer even to what is no HTTP, and a stop that
 * lets running requests finish for a while and then closes what is left (decisions: SIGTERM).
 */
import { Server, STATUS_CODES } from "node:http"
import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { errorText } from "@sluice/api/infra/WireError"
import { Crypto, Duration, Effect, Exit, Layer } from "effect"
import { after } from "../clock/WallTime.ts"
import { ServerMetrics } from "../metrics/ServerMetrics.ts"
import { endWith, serverAway } from "./EdgeErrors.ts"
import { BodyMemoryBudget, FileSpaceBudget, ByteBudget } from "./BodyMemoryBudget.ts"
import type { HostRule } from "./Hosts.ts"
import { HotRoutes, makeHotRoutes } from "./HotRoutes.ts"
import { HttpMetrics } from "../metrics/HttpMetrics.ts"
import { requestPath } from "./RequestPath.ts"
import { PipelinedRequests } from "./PipelinedRequests.ts"
import { nameRequest } from "./RequestId.ts"
import type { Route } from "./RouteTable.ts"
import { Spool } from "./Spool.ts"

const MAX_HEADER_BYTES = 16_384
const MAX_CONNECTIONS = 10_000
const HEADERS_WITHIN_MS = 20_000
const REQUEST_WITHIN_MS = 120_000
/** Longer than the usual 60 s of proxies, so that they close first. */
const KEEP_ALIVE_MS = 65_000
const DRAIN = Duration.seconds(4)
/** As long as a caller may take to read why its connection is refused. */
const REFUSAL_MS = 2_000

export interface Listening {
  readonly host: string
  readonly port: number
  /** Which `Host` headers a hot route answers to. */
  readonly isOurHost: HostRule
  /** All routes there are: requests are counted by them. */
  readonly routes?: ReadonlyArray<Route>
  /** Hears of each request before anybody answers it. */
  readonly heard?: (source: IncomingMessage, response: ServerResponse) => void
  /** How long what is being answered may still take after a stop. */
  readonly drain?: Duration.Input
  /** How long a connection that is refused may stay open. */
  readonly refusalMs?: number
  /** Bytes of all bodies together that are still coming. */
  readonly roomBytes?: number
  /** Bytes of all files together that come in forms. */
  readonly fileRoomBytes?: number
}

/** Listens from when it is built until its scope closes. */
export const nodeServer = ({
  drain = DRAIN,
  heard = () => {},
  host,
  isOurHost,
  port,
  fileRoomBytes,
  refusalMs = REFUSAL_MS,
  roomBytes,
  routes = []
}: Listening) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const room = new ByteBudget(roomBytes)
      const hot = makeHotRoutes(isOurHost, room)
      const metrics = new HttpMetrics(yield* ServerMetrics, routes)
      const newId = yield* idsAtOnce
      const take: typeof hot.take = (source, response) => {
        heard(source, response)
        return hot.take(source, response)
      }
      const server = makeServer(newId, take, metrics, refusalMs)
      const listening = NodeHttpServer.layer(() => server, { host, port, gracefulShutdownTimeout: drain })
      // Released before the socket is: what still streams after the drain is cut, or closing would wait for it.
      const cut = Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections())))
      return Layer.mergeAll(
        Layer.provideMerge(cut, listening).pipe(Layer.provideMerge(Spool.layer)),
        Layer.succeed(HotRoutes, hot),
        Layer.succeed(BodyMemoryBudget, room),
        fileRoomBytes === undefined
          ? FileSpaceBudget.layer
          : Layer.succeed(FileSpaceBudget, new ByteBudget(fileRoomBytes))
      )
    })
  )

/** Whom a request is for is known before the router is asked. */
class FrontServer extends Server {
  readonly pipelines: PipelinedRequests

  constructor(newId: () => string, take: HotRoutes["Service"]["take"], metrics: HttpMetrics, options: ServerOptions) {
    super(options)
    this.pipelines = new PipelinedRequests((source, response, over) => {
      const given = source.url ?? "/"
      const url = requestPath(given)
      if (url !== given) source.url = url
      nameRequest(source, newId)
      metrics.begun(source, response, over)
      // The socket listens before the router does, and after it: who comes then would wait for ever.
      if (!take(source, response) && !super.emit("request", source, response)) endWith(response, source, serverAway)
    })
  }

  override emit(event: string, ...args: Array<never>): boolean {
    if (event !== "request") return super.emit(event, ...args)
    this.enter(args[0]!, args[1]!)
    return true
  }

  enter(source: IncomingMessage, response: ServerResponse): void {
    // Nobody reads the body of these, and behind one that lies unread it would not be seen that the caller goes.
    if (source.method === "GET" || source.method === "HEAD") source.resume()
    this.pipelines.enter(source, response)
  }
}

const makeServer = (
  newId: () => string,
  take: HotRoutes["Service"]["take"],
  metrics: HttpMetrics,
  refusalMs: number
): Server => {
  const server = new FrontServer(newId, take, metrics, {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_WITHIN_MS,
    requestTimeout: REQUEST_WITHIN_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Nothing here speaks another protocol: who offers one is answered in this one, as a request like any other.
    shouldUpgradeCallback: () => false,
    // Our rule for hosts refuses it, with a body.
    requireHostHeader: false,
    noDelay: true
  })
  server.maxConnections = MAX_CONNECTIONS
  server.on("connection", (socket) => metrics.connected(socket))
  // Refused where every other request is.
  server.on("checkExpectation", (source, response) => server.enter(source, response))
  server.on("clientError", (error: Broken, socket) => {
    const canTell = socket.writable && error.code !== "ECONNRESET" && !server.pipelines.isWithinAnswer(socket)
    if (canTell) refuse(error, socket, newId(), refusalMs)
    else socket.destroy()
  })
  return server
}

/** Every request may need one: a fiber that ends at once costs less than `runSync`, which makes a scheduler too. */
const idsAtOnce = Effect.gen(function* () {
  const made = Effect.orDie((yield* Crypto.Crypto).randomUUIDv7())
  const context = yield* Effect.context<never>()
  const fork = Effect.runForkWith(context)
  const run = Effect.runSyncWith(context)
  return () => {
    const exit = fork(made).pollUnsafe()
    return exit !== undefined && Exit.isSuccess(exit) ? exit.value : run(made)
  }
})

type Broken = Error & { readonly code?: string }

/** What the parser refuses never reaches the router; it gets the same kind of body. */
const refuse = (error: Broken, socket: Duplex, requestId: string, refusalMs: number): void => {
  const status = error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400
  const message = "The request is not valid HTTP, too slow, or its headers are too large."
  const body = errorText({ code: "validation_error", message }, requestId)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nx-request-id: ${requestId}\r\n\r\n${body}`
  )
  // Only our half is closed by that: a caller that keeps its own, or whose going is not seen, would stay for ever.
  const seen = after(refusalMs, () => socket.destroy())
  socket.on("close", seen)
}
