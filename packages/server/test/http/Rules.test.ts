/** The rules that all routes of the infrastructure surface share (decisions: Infrastructure surface, common rules; Tenancy). */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { rawRequest } from "@sluice/testing/servers/RawHttp"
import type { Told } from "@sluice/testing/servers/TestServer"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

const pathsOf = (told: { readonly json: Told["json"] }) =>
  told.json.error.details.issues.map((issue: { path: string }) => issue.path)

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("common rules", (it) => {
  it.effect("lists newest first, in pages, no row twice or skipped while rows are added", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const make = (name: string) => ask("/api/v1/storage", { body: { name, region: "us-east", size_gb: 1 } })
      for (let i = 0; i < 5; i++) expect((yield* make(`page-${i}`)).status).toBe(201)
      const names: Array<string> = []
      let cursor = ""
      for (let page = 0; ; page++) {
        const told = yield* ask(`/api/v1/storage?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`)
        expect(told.status).toBe(200)
        expect(told.json.meta.requestId).toBe(told.headers.get("x-request-id"))
        expect(told.json.meta.total).toBe(5 + page)
        names.push(...told.json.data.map((volume: { name: string }) => volume.name))
        cursor = told.json.meta.cursor
        if (!told.json.meta.hasMore) break
        yield* make(`late-${page}`)
      }
      expect(cursor).toBe("")
      expect(names).toEqual(["page-4", "page-3", "page-2", "page-1", "page-0"])
    })
  )

  it.effect("refuses bad queries with all issues", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const bad: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
        ["limit=0", ["limit"]],
        ["limit=101", ["limit"]],
        ["limit=1.5", ["limit"]],
        ["limit=abc", ["limit"]],
        ["limit=", ["limit"]],
        ["limit=1&limit=2", ["limit"]],
        ["cursor=", ["cursor"]],
        ["cursor=xyz", ["cursor"]],
        ["cursor=JyBvciAxPTEgLS0", ["cursor"]],
        ["what=1", ["what"]],
        ["limit=0&what=1&cursor=x", ["cursor", "limit", "what"]]
      ]
      for (const [query, paths] of bad) {
        const told = yield* ask(`/api/v1/api-keys?${query}`)
        expect([query, told.status, told.json.error.code]).toEqual([query, 422, "validation_error"])
        expect([query, pathsOf(told).sort()]).toEqual([query, paths])
        expect(told.json.error.message).not.toContain("representing")
      }
      for (const query of [
        "status=done",
        "label=novalue",
        "created_after=yesterday",
        "created_after=2026-02-30T00:00:00Z",
        "created_after=2026-02-20T24:00:00Z",
        "created_before=2026-01-01",
        "name=a%00b",
        "what=1"
      ]) {
        expect([query, (yield* ask(`/api/v1/jobs?${query}`)).status]).toEqual([query, 422])
      }
      for (const query of ["from=2026-02-30", "to=x", "from=2026-02-02&to=2026-02-01", "from=0000-01-01"]) {
        expect([query, (yield* ask(`/api/v1/billing/usage?${query}`)).status]).toEqual([query, 422])
        expect([query, (yield* ask(`/api/v1/billing/usage/breakdown?${query}`)).status]).toEqual([query, 422])
      }
      for (const query of ["by=hour", "cursor=", "cursor=AA", "cursor=*", "limit=0"]) {
        expect([query, (yield* ask(`/api/v1/billing/usage/breakdown?${query}`)).status]).toEqual([query, 422])
      }
      for (const path of ["/templates", "/storage/regions", "/instances/types", "/billing/balance", "/environments"]) {
        expect([path, (yield* ask(`/api/v1${path}?what=1`)).status]).toEqual([path, 422])
      }
    })
  )

  it.effect("refuses bad bodies with all issues, never with a 500", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const told = yield* ask("/api/v1/storage", { body: { name: "", size_gb: 1.5, colour: "red" } })
      expect([told.status, pathsOf(told).sort()]).toEqual([422, ["colour", "name", "region", "size_gb"]])
      for (const path of ["/api/v1/storage", "/api/v1/api-keys"]) {
        const { issues } = (yield* ask(path, { body: "[]" })).json.error.details
        expect([path, issues]).toEqual([path, [{ path: "", message: "must be a JSON object" }]])
      }
      const { issues } = (yield* ask("/api/v1/storage", { body: { name: "v", region: "r", size_gb: "1" } })).json.error
        .details
      expect(issues).toEqual([
        { path: "size_gb", message: "must be an integer from 1 to 10000" },
        { path: "region", message: "must be one of eu-north, us-east" }
      ])
      for (const path of ["/api/v1/storage", "/api/v1/api-keys", "/api/v1/jobs", "/api/v1/jobs/quote"]) {
        for (const body of [
          "",
          "{",
          "null",
          "[]",
          '"x"',
          "1",
          "{}x",
          "\u0000",
          '{"name":"\\u0000"}',
          '{"name":"\\ud800"}',
          '{"__proto__":1}'
        ]) {
          const answer = yield* ask(path, { method: "POST", headers: { "content-type": "application/json" }, body })
          expect([path, body, answer.status, answer.json.error.code]).toEqual([path, body, 422, "validation_error"])
          expect(answer.json.error.details.issues.length).toBeGreaterThan(0)
        }
        const text = yield* ask(path, { body: "{}", headers: { "content-type": "text/plain" } })
        expect([path, text.status, text.json.error.code]).toEqual([path, 415, "unsupported_media_type"])
        const large = yield* ask(path, { body: { name: "x".repeat(1_100_000) } })
        expect([path, large.status, large.json.error.code]).toEqual([path, 413, "payload_too_large"])
      }
      const deep = yield* ask("/api/v1/jobs", { body: `${"[".repeat(400_000)}${"]".repeat(400_000)}` })
      expect(deep.status).toBe(422)
    })
  )

  it.effect("keeps a well-formed request id and replaces any other", () =>
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

  it.effect("answers to its own names only", () =>
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

  it.effect("keeps volumes: unique, growing, kept while attached", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const made = yield* ask("/api/v1/storage", { body: { name: "vol", region: "eu-north", size_gb: 5 } })
      expect(made.json.data).toMatchObject({
        name: "vol",
        region: "eu-north",
        size_gb: 5,
        used_bytes: 0,
        attached_to: null
      })
      const path = `/api/v1/storage/${made.json.data.id}`
      const again = yield* ask("/api/v1/storage", { body: { name: "vol", region: "eu-north", size_gb: 5 } })
      expect([again.status, again.headers.get("x-should-retry")]).toEqual([409, "false"])
      const nowhere = yield* ask("/api/v1/storage", { body: { name: "nowhere", region: "moon", size_gb: 5 } })
      expect([nowhere.status, pathsOf(nowhere)]).toEqual([422, ["region"]])
      expect((yield* ask(path, { method: "PATCH", body: { size_gb: 4 } })).status).toBe(422)
      expect((yield* ask(path, { method: "PATCH", body: { size_gb: 6 } })).json.data.size_gb).toBe(6)
      expect((yield* ask(path, { method: "DELETE" })).status).toBe(204)
      expect((yield* ask(path)).status).toBe(404)
    })
  )

  it.effect("knows no path with a broken percent code, by whatever method", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const path of ["/api/v1/jobs/%zz", "/api/v1/jobs/%F0%9F", "/v1/models/%ff%zz", "/v1/videos/%ff"]) {
        expect([path, (yield* ask(path)).status]).toEqual([path, 404])
      }
    })
  )

  it.effect("answers who offers another protocol as anybody, body and all", () =>
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

  it.effect("knows a path by its letters, and nobody without a host", () =>
    Effect.gen(function* () {
      const { ask, port } = yield* TestServer
      for (const path of ["/METRICS", "//metrics", "/V1/models", "/api/v1/JOBS", "/api//v1/jobs"]) {
        expect([path, (yield* ask(path)).status]).toEqual([path, 404])
      }
      const hostless = yield* rawRequest(port, ["GET /openapi.json HTTP/1.1"])
      expect([hostless.status, hostless.body]).toEqual([403, expect.stringContaining('"error"')])
    })
  )

  it.effect("answers HEAD and trailing slashes like GET", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const head = yield* ask("/api/v1/jobs", { method: "HEAD" })
      expect([head.status, head.text]).toEqual([200, ""])
      expect((yield* ask("/api/v1/jobs/")).status).toBe(200)
      expect((yield* ask("/v1/models/")).status).toBe(200)
    })
  )
})
