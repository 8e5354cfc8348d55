/** A body may take any time, but for no longer than a bound without a byte. */
import { expect, it, layer } from "@effect/vitest"
import { SOCKET_LIMITS } from "@sluice/server/http/NodeServer"
import { ServerMetrics } from "@sluice/server/metrics/ServerMetrics"
import { rawConnection } from "@sluice/testing/servers/RawHttp"
import { TestServer, testServerOf } from "@sluice/testing/servers/TestServer"
import { Effect } from "effect"

it("a whole request has no limit, and its headers have one", () => {
  expect(SOCKET_LIMITS).toMatchObject({ requestTimeout: 0, headersTimeout: 20_000 })
})

const BOUNDARY = "a-line"

layer(testServerOf({ silenceMs: 300 }), { excludeTestServices: true, timeout: "5 minutes" })(
  "a body that stops coming",
  (it) => {
    const begun = (path: string, type: string, body: string) =>
      Effect.gen(function* () {
        const { alice, port } = yield* TestServer
        const connection = yield* rawConnection(port)
        connection.write(
          [
            `POST ${path} HTTP/1.1`,
            "Host: localhost",
            `Authorization: Bearer ${alice.key}`,
            `Content-Type: ${type}`,
            "X-Request-Id: mine",
            "Content-Length: 100000",
            "",
            body
          ].join("\r\n")
        )
        return connection
      })

    it.effect("ends with a 408 in the form of its surface, and nothing of it is left open", () =>
      Effect.gen(function* () {
        const json = "application/json"
        const form = `multipart/form-data; boundary=${BOUNDARY}`
        const part = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF`
        const { open } = yield* ServerMetrics
        for (const [path, type, body, said] of [
          ["/api/v1/jobs", json, "{", /"code":"validation_error".*"request_id":"mine"/s],
          ["/v1/chat/completions", json, "{", /"type":"invalid_request_error"/],
          ["/v1/responses", json, "{", /"type":"invalid_request_error"/],
          ["/v1/embeddings", json, "{", /"type":"invalid_request_error"/],
          ["/v1/audio/transcriptions", form, part, /"type":"invalid_request_error"/]
        ] as const) {
          const connection = yield* begun(path, type, body)
          const text = yield* connection.heard(/\}\}$/)
          expect([path, text]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 408 Request Timeout\r\n/)])
          expect([path, text]).toEqual([path, expect.stringMatching(said)])
          expect([path, text]).toEqual([path, expect.stringContaining("x-request-id: mine")])
        }
        while (open.of().value > 0) yield* Effect.sleep("10 millis")
      }).pipe(Effect.scoped)
    )

    it.effect("an answer that takes longer than that is waited for", () =>
      Effect.gen(function* () {
        const { alice, ask, port } = yield* TestServer
        const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 5 }
        const { data } = (yield* ask("/api/v1/jobs", { body: job })).json
        const connection = yield* rawConnection(port)
        connection.write(
          `GET /api/v1/jobs/${data.id}/logs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${alice.key}\r\n` +
            "Accept: text/event-stream\r\n\r\n"
        )
        yield* connection.heard(/event: status/)
        yield* Effect.sleep("900 millis")
        yield* ask(`/api/v1/jobs/${data.id}/cancel`, { method: "POST" })
        expect(yield* connection.heard(/event: end/)).toContain("event: end")
      }).pipe(Effect.scoped)
    )
  }
)
