/** A listening socket before the routes are ready and after they have closed: requests still get an answer. */
import { NodeServices } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import * as PooledCrypto from "@sluice/server/crypto/PooledCrypto"
import { hostRule } from "@sluice/server/http/Hosts"
import { nodeServer } from "@sluice/server/http/NodeServer"
import * as ServerMetrics from "@sluice/server/metrics/ServerMetrics"
import { Effect, Layer } from "effect"
import * as HttpServer from "effect/http/HttpServer"

const socket = nodeServer({ host: "127.0.0.1", port: 0, isOurHost: hostRule([]) }).pipe(
  Layer.provide([PooledCrypto.layer, ServerMetrics.layer, NodeServices.layer])
)

it.live("a request before the routes are ready is asked to retry", () =>
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const port = "port" in address ? address.port : 0
    const headers = { "x-request-id": "mine" }
    for (const path of ["/readyz", "/v1/models", "/api/v1/jobs"]) {
      const response = yield* Effect.promise((signal) => fetch(`http://127.0.0.1:${port}${path}`, { signal, headers }))
      const text = yield* Effect.promise(() => response.text())
      expect([response.status, JSON.parse(text).error.code]).toEqual([503, "service_unavailable"])
      expect([response.headers.get("x-request-id"), text.includes('"request_id":"mine"')]).toEqual(["mine", true])
      expect(response.headers.get("retry-after")).toBe("5")
    }
  }).pipe(Effect.provide(socket), Effect.timeout("5 minutes"))
)
