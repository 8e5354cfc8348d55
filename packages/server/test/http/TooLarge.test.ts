/** A body beyond its limit: its refusal reaches callers that write first and callers that read at once. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { rawConnection, rawRequest } from "@sluice/testing/servers/RawHttp"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("a body that is too large", (it) => {
  it.effect("is read to its limit when it comes in chunks, and is a 413", () =>
    Effect.gen(function* () {
      const { port, alice } = yield* TestServer
      const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`
      const head = [
        "POST /api/v1/jobs HTTP/1.1",
        "Host: localhost",
        `Authorization: Bearer ${alice.key}`,
        "Content-Type: application/json",
        "Transfer-Encoding: chunked"
      ]
      const told = yield* rawRequest(port, head, `${chunk.repeat(20)}0\r\n\r\n`)
      expect([told.status, told.body.includes("payload_too_large")]).toEqual([413, true])
      const latin1 = yield* rawRequest(port, [...head.slice(0, 4), "Content-Length: 3"], '"\xff"')
      expect(latin1.status).toBe(422)
    })
  )

  it.effect("may be written whole by its caller, and its connection continues", () =>
    Effect.gen(function* () {
      const { port, alice } = yield* TestServer
      for (const path of ["/api/v1/jobs", "/v1/embeddings"]) {
        const { heard, write } = yield* rawConnection(port)
        const head = `Host: localhost\r\nAuthorization: Bearer ${alice.key}\r\n`
        write(`POST ${path} HTTP/1.1\r\n${head}Content-Length: 30000000\r\n\r\n`)
        expect(yield* heard(/too large|at most|larger/)).toMatch(/^HTTP\/1\.1 413 /)
        for (let n = 0; n < 30; n++) write("x".repeat(1_000_000))
        write(`GET /api/v1/jobs HTTP/1.1\r\n${head}\r\n`)
        expect(yield* heard(/HTTP\/1\.1 200/)).toMatch(/HTTP\/1\.1 200 /)
      }
    }).pipe(Effect.scoped)
  )
})
