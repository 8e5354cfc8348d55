/**
 * The listening socket. It limits headers, connections and idle time, answers also input that is no valid HTTP, and
 * stops with a drain: running requests get some time to finish, and then their connections are closed (decisions:
 * SIGTERM).
 */
import { Server, STATUS_CODES } from "node:http"
import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodePath from "@effect/platform-node/NodePath"
import { Crypto, Duration, Effect, Exit, Layer } from "effect"
import * as Etag from "effect/http/Etag"
import { after } from "../clock/WallTime.ts"
import { ServerMetrics } from "../metrics/ServerMetrics.ts"
import { type EdgeError, endWith, serverUnavailable, silentBody, toSurface } from "./EdgeErrors.ts"
import { BodyMemoryBudget, FileSpaceBudget, ByteBudget } from "./BodyMemoryBudget.ts"
import type { HostRule } from "./Hosts.ts"
import { HotRoutes, makeHotRoutes } from "./HotRoutes.ts"
import { HttpMetrics } from "../metrics/HttpMetrics.ts"
import { hostOfTarget, requestPath } from "./RequestPath.ts"
import { PipelinedRequests } from "./PipelinedRequests.ts"
import { nameRequest, requestIdOf } from "./RequestId.ts"
import type { Route } from "./RouteTable.ts"
import { watchSilence } from "./SilentBodies.ts"
import { Spool } from "./Spool.ts"

const MAX_CONNECTIONS = 10_000
/** Bounds the pause of a body. Less cuts callers on bad networks off, more keeps dead connections open. */
const SILENCE_MS = 30_000
export const SOCKET_LIMITS: ServerOptions = {
  maxHeaderSize: 16_384,
  headersTimeout: 20_000,
  // No limit, because an upload takes as long as its network needs. Its silence is bounded instead.
  requestTimeout: 0,
  // Longer than the usual 60 s of proxies, so that the proxy closes an idle connection first.
  keepAliveTimeout: 65_000
}
const DRAIN = Duration.seconds(4)
/** Time for a caller to read why its connection is refused. */
const REFUSAL_MS = 2_000

export interface Listening {
  readonly host: string
  readonly port: number
  /** The `Host` headers that a hot route answers. */
  readonly isOurHost: HostRule
  /** All routes, by which requests are counted. */
  readonly routes?: ReadonlyArray<Route>
  /** Called for each request before it is handled. */
  readonly onRequest?: (source: IncomingMessage, response: ServerResponse) => void
  /** Time that running requests may take after a stop. */
  readonly drain?: Duration.Input
  /** Milliseconds that a refused connection may stay open. */
  readonly refusalMs?: number
  /** Milliseconds that a body may pause. */
  readonly silenceMs?: number
  /** Budget in bytes for all request bodies together. */
  readonly bodyMemoryBytes?: number
  /** Budget in bytes for all files of forms together. */
  readonly fileSpaceBytes?: number
}

/** Listens from its construction until its scope closes. */
export const nodeServer = ({
  drain = DRAIN,
  onRequest = () => {},
  host,
  isOurHost,
  port,
  fileSpaceBytes,
  refusalMs = REFUSAL_MS,
  bodyMemoryBytes,
  routes = [],
  silenceMs = SILENCE_MS
}: Listening) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const budget = new ByteBudget(bodyMemoryBytes)
      const hot = makeHotRoutes(isOurHost, budget)
      const metrics = new HttpMetrics(yield* ServerMetrics, routes)
      const newId = yield* makeSyncIds
      const take: typeof hot.take = (source, response) => {
        onRequest(source, response)
        return hot.take(source, response)
      }
      const server = makeServer(newId, take, metrics, { refusalMs, silenceMs })
      const listening = Layer.mergeAll(
        NodeHttpServer.layerServer(() => server, { host, port, gracefulShutdownTimeout: drain }),
        httpServices
      )
      // Released before the socket: streams that outlast the drain are cut, or closing the socket would wait for them.
      const cut = Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections())))
      return Layer.mergeAll(
        Layer.provideMerge(cut, listening).pipe(Layer.provideMerge(Spool.layer)),
        Layer.succeed(HotRoutes, hot),
        Layer.succeed(BodyMemoryBudget, budget),
        fileSpaceBytes === undefined
          ? FileSpaceBudget.layer
          : Layer.succeed(FileSpaceBudget, new ByteBudget(fileSpaceBytes))
      )
    })
  )

/** The services of `NodeHttpServer.layer` without the terminal, with which each server would listen to its process's standard input. */
const httpServices = Layer.mergeAll(NodeHttpPlatform.layer, Etag.layerWeak, NodeFileSystem.layer, NodePath.layer)

/** Names, counts and normalizes each request before the router sees it, and takes hot routes. */
class FrontServer extends Server {
  readonly pipelines: PipelinedRequests

  constructor(newId: () => string, take: HotRoutes["Service"]["take"], metrics: HttpMetrics, options: ServerOptions) {
    super(options)
    this.pipelines = new PipelinedRequests((source, response, onEnd) => {
      const given = source.url ?? "/"
      const host = hostOfTarget(given)
      if (host !== undefined) source.headers.host = host
      const url = requestPath(given)
      if (url !== given) source.url = url
      nameRequest(source, newId)
      metrics.trackRequest(source, response, onEnd)
      // The socket listens before the router is built and after it is gone; a request that arrives then would never be
      // answered.
      if (!take(source, response) && !super.emit("request", source, response))
        endWith(response, source, serverUnavailable)
    })
  }

  override emit(event: string, ...args: Array<never>): boolean {
    if (event !== "request") return super.emit(event, ...args)
    this.enter(args[0]!, args[1]!)
    return true
  }

  enter(source: IncomingMessage, response: ServerResponse): void {
    // No handler reads the body of these. An unread body would hide that the caller disconnects.
    if (source.method === "GET" || source.method === "HEAD") source.resume()
    this.pipelines.enter(source, response)
  }
}

const makeServer = (
  newId: () => string,
  take: HotRoutes["Service"]["take"],
  metrics: HttpMetrics,
  { refusalMs, silenceMs }: { readonly refusalMs: number; readonly silenceMs: number }
): Server => {
  const server = new FrontServer(newId, take, metrics, {
    ...SOCKET_LIMITS,
    // The server speaks no other protocol: a request that offers an upgrade is answered as an ordinary request.
    shouldUpgradeCallback: () => false,
    // The rule for hosts refuses a missing header, with an error body.
    requireHostHeader: false,
    noDelay: true
  })
  server.maxConnections = MAX_CONNECTIONS
  server.on("connection", (socket) => metrics.trackConnection(socket))
  // Refused in the same place as every other request.
  server.on("checkExpectation", (source, response) => server.enter(source, response))
  server.on("clientError", (error: ParserError, socket) => {
    if (error.code === "ECONNRESET" || server.pipelines.isWithinAnswer(socket)) socket.destroy()
    else refuse(socket, toSurface("", parserRefusal(error), newId()), refusalMs)
  })
  watchSilence(server, server.pipelines, silenceMs, (socket, request) => {
    if (server.pipelines.isWithinAnswer(socket)) socket.destroy()
    else refuse(socket, toSurface(request.url ?? "", silentBody(silenceMs), requestIdOf(request)), refusalMs)
  })
  return server
}

/** Creates an id synchronously. A fiber that ends at once costs less than `runSync`, which also creates a scheduler. */
const makeSyncIds = Effect.gen(function* () {
  const made = Effect.orDie((yield* Crypto.Crypto).randomUUIDv7())
  const context = yield* Effect.context<never>()
  const fork = Effect.runForkWith(context)
  const run = Effect.runSyncWith(context)
  return () => {
    const exit = fork(made).pollUnsafe()
    return exit !== undefined && Exit.isSuccess(exit) ? exit.value : run(made)
  }
})

type ParserError = Error & { readonly code?: string }

/** The error of a request that the HTTP parser refused. It never reaches the router. */
const parserRefusal = ({ code }: ParserError): EdgeError => ({
  status: code === "HPE_HEADER_OVERFLOW" ? 431 : code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400,
  code: "validation_error",
  message: "The request is not valid HTTP, arrived too slowly, or has headers that are too large."
})

/** Writes an error to the socket itself and closes the connection. */
const refuse = (socket: Duplex, { requestId, status, text }: ReturnType<typeof toSurface>, refusalMs: number): void => {
  if (!socket.writable) return void socket.destroy()
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\nx-request-id: ${requestId}\r\n\r\n${text}`
  )
  // `end` closes only the server's half of the connection. A caller that keeps its half open, or that vanished, would
  // keep the socket for ever.
  const cancelDestroy = after(refusalMs, () => socket.destroy())
  socket.on("close", cancelDestroy)
}
