/** The end of connections: within a bound after a refusal, whatever the caller does, and with the caller in every other case. */
import { NodeServices } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import * as PooledCrypto from "@sluice/server/crypto/PooledCrypto"
import { hostRule } from "@sluice/server/http/Hosts"
import { nodeServer } from "@sluice/server/http/NodeServer"
import { MAX_CONCURRENT, MAX_BYTES } from "@sluice/server/http/PipelinedRequests"
import * as ServerMetrics from "@sluice/server/metrics/ServerMetrics"
import { Effect, Layer, Stream } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { connect } from "node:net"

const begun = HttpServerResponse.stream(Stream.concat(Stream.make(new TextEncoder().encode("begun")), Stream.never))
const routes = Layer.mergeAll(
  HttpRouter.add("GET", "/never", Effect.never),
  HttpRouter.add("GET", "/begun", Effect.succeed(begun))
)
const silent = HttpRouter.serve(routes, { disableLogger: true }).pipe(
  Layer.provideMerge(
    nodeServer({ host: "127.0.0.1", port: 0, isOurHost: hostRule([]), drain: "100 millis", refusalMs: 200 })
  ),
  Layer.provideMerge(Layer.mergeAll(PooledCrypto.layer, ServerMetrics.layer, NodeServices.layer))
)

/** Keeps its half of the connection open after the server closed. */
const caller = Effect.gen(function* () {
  const { address } = yield* HttpServer.HttpServer
  const { connections, open } = yield* ServerMetrics.ServerMetrics
  const socket = connect({ host: "127.0.0.1", port: "port" in address ? address.port : 0, allowHalfOpen: true })
  const heard = { text: "", ended: false }
  socket.on("data", (bytes) => (heard.text += bytes))
  socket.on("end", () => (heard.ended = true))
  socket.on("error", () => {})
  yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
  return { socket, heard, counts: { connections: connections.of(), open: open.of() } }
})

const until = (holds: () => boolean) =>
  Effect.whileLoop({ while: () => !holds(), body: () => Effect.sleep("10 millis"), step: () => {} })

it.live("a connection is closed after its refusal, which its caller can read", () =>
  Effect.gen(function* () {
    const { counts, heard, socket } = yield* caller
    socket.write("this is no HTTP\r\n\r\n")
    yield* until(() => heard.ended)
    expect(heard.text).toMatch(/^HTTP\/1\.1 400 .*"code":"validation_error"/s)
    expect(counts.connections.value).toBe(1)
    yield* until(() => counts.connections.value === 0)
  }).pipe(Effect.scoped, Effect.provide(silent), Effect.timeout("5 minutes"))
)

it.live(
  "a refusal on a connection closes it in the middle of an answer, and replaces an answer that has not begun",
  () =>
    Effect.gen(function* () {
      for (const [path, first] of [
        ["/begun", "begun"],
        ["/never", ""]
      ] as const) {
        const { counts, heard, socket } = yield* caller
        socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
        yield* until(() => counts.open.value === 1 && heard.text.includes(first))
        const before = heard.text
        socket.write("this is no HTTP\r\n\r\n")
        yield* until(() => counts.open.value === 0 && counts.connections.value === 0)
        yield* until(() => socket.closed || heard.ended)
        expect(heard.text.slice(before.length)).toMatch(path === "/begun" ? /^$/ : /^HTTP\/1\.1 400 /)
      }
    }).pipe(Effect.scoped, Effect.provide(silent), Effect.timeout("5 minutes"))
)

it.live("a connection is closed when its caller leaves, though it sent a body that no route reads", () =>
  Effect.gen(function* () {
    const { counts, socket } = yield* caller
    const body = "z".repeat(500_000)
    socket.write(`GET /never HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    yield* until(() => counts.open.value === 1)
    socket.destroy()
    yield* until(() => counts.open.value === 0 && counts.connections.value === 0)
  }).pipe(Effect.scoped, Effect.provide(silent), Effect.timeout("5 minutes"))
)

it.live("a connection is closed when too many of its pipelined requests wait, whatever they expect", () =>
  Effect.gen(function* () {
    const { counts, socket } = yield* caller
    for (let n = 0; n < MAX_CONCURRENT; n++) socket.write("GET /never HTTP/1.1\r\nHost: localhost\r\n\r\n")
    yield* until(() => counts.open.value === MAX_CONCURRENT)
    const body = "x".repeat(50_000)
    const head = `POST / HTTP/1.1\r\nHost: localhost\r\nExpect: the-moon\r\nContent-Length: ${body.length}\r\n\r\n`
    for (let bytes = 0; bytes <= MAX_BYTES; bytes += body.length) socket.write(head + body)
    yield* until(() => counts.connections.value === 0)
  }).pipe(Effect.scoped, Effect.provide(silent), Effect.timeout("5 minutes"))
)
