/** What is one thing stays one, however it is spelled or asked for: ids, lists, Accept and Expect (decisions: common rules). */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { rawRequest } from "@sluice/testing/servers/RawHttp"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("one thing, spelled otherwise", (it) => {
  it.effect("pages every list, the short ones too", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const path of ["/templates", "/storage/regions", "/instances/types"]) {
        const { data: all, meta } = (yield* ask(`/api/v1${path}`)).json
        expect([path, meta.total, meta.hasMore, meta.cursor]).toEqual([path, all.length, false, ""])
        const paged: Array<unknown> = []
        let cursor = ""
        do {
          const told = yield* ask(`/api/v1${path}?limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`)
          expect([path, told.status, told.json.data.length, told.json.meta.total]).toEqual([path, 200, 1, all.length])
          paged.push(...told.json.data)
          cursor = told.json.meta.cursor
          expect(told.json.meta.hasMore).toBe(cursor !== "")
        } while (cursor !== "")
        expect(paged).toEqual(all)
        for (const query of ["limit=0", "limit=101", "cursor=x", "cursor=MA", "what=1"]) {
          expect([path, query, (yield* ask(`/api/v1${path}?${query}`)).status]).toEqual([path, query, 422])
        }
      }
    })
  )

  it.effect("knows an environment by its id in capitals", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const [environment] = (yield* ask("/api/v1/environments")).json.data
      const upper = environment.id.toUpperCase()
      expect((yield* ask(`/api/v1/jobs?environment=${upper}`)).status).toBe(200)
      expect((yield* ask("/api/v1/jobs", { headers: { "x-environment": upper } })).status).toBe(200)
      expect((yield* ask(`/api/v1/jobs?environment=${environment.name.toUpperCase()}`)).status).toBe(404)
    })
  )

  it.effect("leaves a volume as it is while a machine has it", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const made = (yield* ask("/api/v1/storage", { body: { name: "kept", region: "us-east", size_gb: 1 } })).json.data
      const path = `/api/v1/storage/${made.id.toUpperCase()}`
      expect((yield* ask(path, { method: "PATCH", body: { size_gb: 2 } })).json.data.size_gb).toBe(2)
      expect((yield* ask(path, { method: "PATCH", body: { size_gb: 1 } })).status).toBe(422)
    })
  )

  it.effect("tells events to those who want them, to the end", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const body = { command: "true", gpu_type: "H100", max_runtime_minutes: 1 }
      const { id } = (yield* ask("/api/v1/jobs", { body })).json.data
      const logs = (accept: string, query = "") => ask(`/api/v1/jobs/${id}/logs${query}`, { headers: { accept } })
      for (const accept of ["text/event-stream;q=0", "text/plain, text/event-stream; q=0.0", "text/event-streams"]) {
        expect((yield* logs(accept)).headers.get("content-type")).toBe("text/plain; charset=utf-8")
      }
      for (const query of ["", "?follow=false"]) {
        const told = yield* logs("text/plain;q=0.5, Text/Event-Stream;q=0.9", query)
        expect(told.text.endsWith('event: end\ndata: {"status":"succeeded","exit_code":0}\n\n')).toBe(true)
      }
    })
  )

  it.effect("takes bodies as they are, and as JSON", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const body = JSON.stringify({ name: "x", region: "us-east", size_gb: 0 })
      for (const path of ["/api/v1/storage", "/api/v1/jobs", "/api/v1/jobs/quote"]) {
        const as = (headers: Record<string, string>) => ask(path, { body, headers })
        expect([path, (yield* as({ "content-encoding": "identity" })).status]).toEqual([path, 422])
        for (const headers of [{ "content-encoding": "gzip" }, { "content-type": "application/vnd.api+json" }]) {
          const told = yield* as(headers)
          expect([path, told.status, told.json.error.code]).toEqual([path, 415, "unsupported_media_type"])
        }
      }
      for (const path of ["/v1/chat/completions", "/v1/embeddings"]) {
        const told = yield* ask(path, { body: "{}", headers: { "content-encoding": "gzip" } })
        expect([path, told.status, told.json.error.code]).toEqual([path, 400, "invalid_encoding"])
      }
    })
  )

  it.effect("is the same where the request names the server, as one to a proxy does", () =>
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

  it.effect("is a path in the same way to the router, the limits and the form of errors", () =>
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

  it.effect("says what it cannot be expected to do, as it says anything", () =>
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
