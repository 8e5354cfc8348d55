/** Hot routes: the callers that they answer, and the request id of each answer. */
import { NodeServices } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import * as PooledCrypto from "@sluice/server/crypto/PooledCrypto"
import { ByteBudget } from "@sluice/server/http/BodyMemoryBudget"
import { hostRule } from "@sluice/server/http/Hosts"
import { HotRoutes, makeHotRoutes } from "@sluice/server/http/HotRoutes"
import { nodeServer } from "@sluice/server/http/NodeServer"
import { requestIdOf } from "@sluice/server/http/RequestId"
import * as ServerMetrics from "@sluice/server/metrics/ServerMetrics"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as HttpServer from "effect/http/HttpServer"
import { EventEmitter } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { PassThrough } from "node:stream"

const socket = nodeServer({ host: "127.0.0.1", port: 0, isOurHost: hostRule([]), drain: "50 millis" }).pipe(
  Layer.provide([PooledCrypto.layer, ServerMetrics.layer, NodeServices.layer])
)

it.live("a request that a stop interrupts keeps its request id", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const built = yield* Layer.buildWithScope(socket, scope)
    const worked: Array<string> = []
    const begun = Promise.withResolvers<void>()
    const hot = yield* Effect.provide(HotRoutes, built)
    yield* hot
      .add({
        path: "/hot",
        maxBodyBytes: 100,
        handler: (source) => {
          worked.push(requestIdOf(source))
          begun.resolve()
          return Effect.never
        }
      })
      .pipe(Scope.provide(scope))
    const { address } = yield* Effect.provide(HttpServer.HttpServer, built)
    const url = `http://127.0.0.1:${"port" in address ? address.port : 0}/hot`
    const asked = yield* Effect.forkChild(Effect.promise((signal) => fetch(url, { method: "POST", signal })))
    yield* Effect.promise(() => begun.promise)
    yield* Scope.close(scope, Exit.void)
    const told = yield* Fiber.join(asked)
    expect([told.status, [told.headers.get("x-request-id")]]).toEqual([503, worked])
    expect(yield* Effect.promise(() => told.text())).toContain(worked[0])
    expect(worked[0]).toMatch(/^[\w-]{36}$/)
  }).pipe(Effect.timeout("5 minutes"))
)

// No model runs and no charge is made for a caller that has left.
it.effect("a hot route answers only callers that are still connected when the body is read", () =>
  Effect.gen(function* () {
    const routes = makeHotRoutes(() => true, new ByteBudget())
    const read: Array<string> = []
    yield* routes.add({
      path: "/hot",
      maxBodyBytes: 100,
      handler: (_source, _response, text) => Effect.orDie(Effect.map(text, (body) => void read.push(body)))
    })
    for (const destroyed of [false, true]) {
      const stream = new PassThrough()
      const head = { headers: { "content-length": "4" }, rawHeaders: [], method: "POST", url: "/hot" }
      const response = Object.assign(new EventEmitter(), { destroyed: false })
      const source = Object.assign(stream, head) as unknown as IncomingMessage
      expect(routes.take(source, response as unknown as ServerResponse)).toBe(true)
      response.destroyed = destroyed
      stream.end(destroyed ? "gone" : "here")
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
    expect(read).toEqual(["here"])
  }).pipe(Effect.scoped)
)
