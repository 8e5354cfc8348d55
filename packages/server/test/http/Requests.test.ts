/** The head of a request: its id, its host, its expectations, other protocols. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { rawRequest } from "@sluice/testing/servers/RawHttp"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("the head of a request", (it) => {
  it.effect("a well-formed request id is kept, and any other is replaced", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const kept = yield* ask("/api/v1/nothing", { headers: { "x-request-id": "a.b:c-d_1" } })
      expect([kept.headers.get("x-request-id"), kept.json.error.details.request_id]).toEqual(["a.b:c-d_1", "a.b:c-d_1"])
      for (const id of ["a b", "x".repeat(129), "<script>"]) {
        expect((yield* ask("/healthz", { headers: { "x-request-id": id } })).headers.get("x-request-id")).toMatch(
          /^[\w-]{36}$/
        )
      }
    })
  )

  it.effect("the server answers to its own host names only", () =>
    Effect.gen(function* () {
      const { port } = yield* TestServer
      const host = (value: string, path = "/openapi.json") =>
        rawRequest(port, [`GET ${path} HTTP/1.1`, `Host: ${value}`])
      for (const ours of ["localhost", `127.0.0.1:${port}`, "[::1]:80", "LOCALHOST."])
        expect((yield* host(ours)).status).toBe(200)
      for (const foreign of ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", ""]) {
        expect([foreign, (yield* host(foreign)).status]).toEqual([foreign, 403])
      }
      expect((yield* host("evil.example", "/v1/models")).body).toContain("permission_error")
    })
  )

  it.effect("a request without a host is forbidden", () =>
    Effect.gen(function* () {
      const { port } = yield* TestServer
      const hostless = yield* rawRequest(port, ["GET /openapi.json HTTP/1.1"])
      expect([hostless.status, hostless.body]).toEqual([403, expect.stringContaining('"error"')])
    })
  )

  it.effect("an offer of another protocol is ignored, and the request with its body is answered", () =>
    Effect.gen(function* () {
      const { port, alice } = yield* TestServer
      const body = JSON.stringify({ command: "true", gpu_type: "H100", max_runtime_minutes: 5 })
      const head = [
        "POST /api/v1/jobs/quote HTTP/1.1",
        "Host: localhost",
        `Authorization: Bearer ${alice.key}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
        "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c",
        "HTTP2-Settings: AAEAAEAA"
      ]
      const quoted = yield* rawRequest(port, head, body)
      expect([quoted.status, quoted.body]).toEqual([200, expect.stringContaining("max_cost_usd")])
      const chat = [head[0]!.replace("/api/v1/jobs/quote", "/v1/chat/completions"), ...head.slice(1)]
      expect((yield* rawRequest(port, chat, body)).status).toBe(400)
    })
  )

  it.effect("an expectation that the server does not meet is a 417 in the form of its surface", () =>
    Effect.gen(function* () {
      const { alice, port } = yield* TestServer
      const told = (line: string, host = "localhost") =>
        Effect.map(
          rawRequest(
            port,
            [
              `${line} HTTP/1.1`,
              `Host: ${host}`,
              `Authorization: Bearer ${alice.key}`,
              "X-Request-Id: mine",
              "Expect: the-moon",
              "Content-Length: 2"
            ],
            "{}"
          ),
          ({ body, head, status }) => {
            for (const each of ["x-request-id: mine", "x-content-type-options: nosniff", "cache-control: no-store"]) {
              expect(head.toLowerCase()).toContain(each)
            }
            const { code, type } = JSON.parse(body).error
            return [status, code, type]
          }
        )
      expect(yield* told("GET /api/v1/jobs")).toEqual([417, "validation_error", undefined])
      expect(yield* told("POST /api/v1/jobs")).toEqual([417, "validation_error", undefined])
      for (const line of ["POST /v1/chat/completions", "GET /v1/models", "POST /v1/nope"]) {
        expect(yield* told(line)).toEqual([417, "validation_error", "invalid_request_error"])
      }
      expect(yield* told("POST /v1/chat/completions", "elsewhere")).toEqual([403, "forbidden", "permission_error"])
    })
  )
})
