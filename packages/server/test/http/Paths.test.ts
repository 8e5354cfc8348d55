/** Spellings of a path: letter case, percent codes, slashes, methods, and targets that name the server. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { rawRequest } from "@sluice/testing/servers/RawHttp"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("paths", (it) => {
  it.effect("a path with a broken percent code is not found", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const path of ["/api/v1/jobs/%zz", "/api/v1/jobs/%F0%9F", "/v1/models/%ff%zz", "/v1/videos/%ff"]) {
        expect([path, (yield* ask(path)).status]).toEqual([path, 404])
      }
    })
  )

  it.effect("a path is its letters, in their case and without doubled slashes", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const path of ["/METRICS", "//metrics", "/V1/models", "/api/v1/JOBS", "/api//v1/jobs"]) {
        expect([path, (yield* ask(path)).status]).toEqual([path, 404])
      }
    })
  )

  it.effect("HEAD and a trailing slash get the answer of GET", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const head = yield* ask("/api/v1/jobs", { method: "HEAD" })
      expect([head.status, head.text]).toEqual([200, ""])
      expect((yield* ask("/api/v1/jobs/")).status).toBe(200)
      expect((yield* ask("/v1/models/")).status).toBe(200)
    })
  )

  it.effect("a path is the same where the request names the server, as a request to a proxy does", () =>
    Effect.gen(function* () {
      const { alice, port } = yield* TestServer
      const head = ["Host: localhost", `Authorization: Bearer ${alice.key}`, "Content-Type: application/json"]
      const told = (method: string, path: string, body = "") =>
        Effect.map(
          rawRequest(port, [`${method} ${path} HTTP/1.1`, ...head, `Content-Length: ${body.length}`], body),
          ({ body, status }) => {
            const { code, message, type } = JSON.parse(body).error
            return { status, code, message, type }
          }
        )
      const large = JSON.stringify({ model: "none", input: "x".repeat(1_500_000) })
      const asked: ReadonlyArray<readonly [method: string, path: string, status: number, body?: string]> = [
        ["GET", "/v1/nope", 404],
        ["GET", "/v1?nope", 404],
        ["GET", "/api/v1/nope", 404],
        ["DELETE", "/v1/models", 405],
        ["PUT", "/api/v1/jobs", 405],
        ["POST", "/v1/embeddings", 404, large]
      ]
      for (const [method, path, status, body] of asked) {
        const plain = yield* told(method, path, body)
        expect([method, path, plain.status]).toEqual([method, path, status])
        expect(yield* told(method, `http://localhost${path}`, body)).toEqual(plain)
      }
    })
  )

  it.effect("the router, the limits and the form of errors read a path in the same way", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const path of [
        "/metrics;x",
        "/metrics;",
        "/metrics%3Bx",
        "/api/v1/jobs;environment=nope",
        "/v1/models;a=b"
      ]) {
        const told = yield* ask(path)
        expect([path, told.status, told.json.error.code]).toEqual([path, 404, "not_found"])
      }
      expect((yield* ask("/%76%31/nope")).json.error.type).toBe("invalid_request_error")
      expect((yield* ask("/%61pi/v1/jobs;", { method: "PUT" })).status).toBe(404)
      expect((yield* ask("/%61pi/v1/jobs", { method: "PUT" })).status).toBe(405)
      expect((yield* ask("/%61pi/v1/jobs")).status).toBe(200)
      const large = { body: { model: "none", input: "x".repeat(1_500_000) } }
      expect((yield* ask("/v1/%65mbeddings", large)).json.error.code).toBe("model_not_found")
      expect((yield* ask("/%761/embeddings", large)).json.error.code).toBe("model_not_found")
    })
  )
})
