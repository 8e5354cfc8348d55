/** Each route of both contracts with an unknown caller, a wrong method, and a key of another workspace. */
import { expect, layer } from "@effect/vitest"
import { InferenceApi } from "@sluice/api/inference/InferenceApi"
import { InfraApi } from "@sluice/api/InfraApi"
import { routesOf } from "@sluice/server/http/RouteTable"
import { Effect } from "effect"
import { rawRequest } from "@sluice/testing/servers/RawHttp"
import type { Ask } from "@sluice/testing/servers/TestServer"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

const infra = routesOf(InfraApi)
const inference = routesOf(InferenceApi)
const routes = [...infra, ...inference]
const MISSING = "01890a5d-ac96-774b-bcce-b302099a8057"
const pathOf = (path: string, id = MISSING) => path.replace(":id", id)
const bodyFor = (method: string): Ask => (method === "GET" || method === "DELETE" ? { method } : { method, body: {} })

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("every route", (it) => {
  it.effect("refuses a caller without a key, for any input", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const { method, path } of routes) {
        const query = "nonsense=1&limit=1&limit=2&variant=a&variant=b"
        const told = yield* ask(`${pathOf(path)}?${query}`, { ...bodyFor(method), key: undefined })
        expect([method, path, told.status]).toEqual([method, path, 401])
        expect(told.json.error.code).toBe(path.startsWith("/v1") ? "invalid_api_key" : "unauthorized")
        expect(told.headers.get("x-request-id")).toMatch(/^[\w-]{36}$/)
        expect(told.headers.get("www-authenticate")).toBe("Bearer")
        if (path.startsWith("/api/")) expect(told.json.error.details.request_id).toBe(told.headers.get("x-request-id"))
      }
      expect(routes.length).toBeGreaterThan(25)
    })
  )

  it.effect("gives an unknown, an inactive and a deleted key the same answer", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const made = (yield* ask("/api/v1/api-keys", { body: { name: "short-lived" } })).json.data
      const answers: Array<string> = []
      const probe = Effect.gen(function* () {
        const told = yield* ask("/api/v1/jobs", { key: made.key, headers: { "x-request-id": "same" } })
        if (told.status !== 200) answers.push(told.text)
        return told.status
      })
      expect(yield* probe).toBe(200)
      yield* ask(`/api/v1/api-keys/${made.id}`, { method: "PATCH", body: { status: "inactive" } })
      expect(yield* probe).toBe(401)
      yield* ask(`/api/v1/api-keys/${made.id}`, { method: "PATCH", body: { status: "active" } })
      expect(yield* probe).toBe(200)
      expect((yield* ask(`/api/v1/api-keys/${made.id}`, { method: "DELETE" })).status).toBe(204)
      expect(yield* probe).toBe(401)
      answers.push(
        (yield* ask("/api/v1/jobs", { key: `svc_live_${"x".repeat(38)}`, headers: { "x-request-id": "same" } })).text
      )
      expect(new Set(answers).size).toBe(1)
    })
  )

  it.effect("refuses forged Authorization headers", () =>
    Effect.gen(function* () {
      const { port, alice } = yield* TestServer
      const good = `Bearer ${alice.key}`
      const forged = [
        ["Bearer"],
        ["Bearer "],
        [alice.key],
        [`Basic ${alice.key}`],
        [`Digest ${alice.key}`],
        [`Bearer${alice.key}`],
        [`Bearer ${alice.key}'`],
        ["Bearer ' or '1'='1"],
        ['Bearer "; drop table api_keys; --'],
        [`Bearer ${alice.key}\xff`],
        [`Bearer svc_live_${"\xc3\xa9".repeat(20)}`],
        [`Bearer ${alice.key}, ${good}`],
        [`Bearer svc_live_${"a".repeat(8_000)}`],
        [good, good],
        [good, "Bearer svc_live_other"]
      ]
      for (const values of forged) {
        const headers = values.map((value) => `Authorization: ${value}`)
        const told = yield* rawRequest(port, ["GET /api/v1/jobs HTTP/1.1", "Host: localhost", ...headers])
        expect([values[0]!.slice(0, 40), told.status]).toEqual([values[0]!.slice(0, 40), 401])
        expect(told.body).not.toContain("svc_live_x")
      }
      const ok = yield* rawRequest(port, [
        "GET /api/v1/jobs HTTP/1.1",
        "Host: localhost",
        `Authorization: bearer   ${alice.key}`
      ])
      expect(ok.status).toBe(200)
      // A request that the HTTP parser refuses has a body and an id too.
      for (const value of [`Bearer a\0b`, `Bearer ${"a".repeat(1_000_000)}`]) {
        const told = yield* rawRequest(port, [
          "GET /api/v1/jobs HTTP/1.1",
          "Host: localhost",
          `Authorization: ${value}`
        ])
        expect([400, 431]).toContain(told.status)
        expect(told.head.toLowerCase()).toContain("x-request-id: ")
      }
    })
  )

  it.effect("answers 405 with Allow to a method that the path does not have", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const path of new Set(routes.map((route) => route.path))) {
        const methods = routes.filter((route) => route.path === path).map((route) => route.method)
        const wrong = ["PUT", "DELETE", "POST"].find((method) => !methods.includes(method))!
        const told = yield* ask(pathOf(path), { method: wrong })
        expect([path, told.status]).toEqual([path, 405])
        const allow = told.headers.get("allow")!.split(", ")
        // `/jobs/quote` also matches `/jobs/:id`, so it may allow more methods than its own.
        expect(allow).toEqual(expect.arrayContaining(methods))
        expect(allow).not.toContain(wrong)
        expect(told.json.error.code).toBe("method_not_allowed")
      }
    })
  )

  it.effect("answers 404 on every other path", () =>
    Effect.gen(function* () {
      const { ask, port } = yield* TestServer
      for (const path of ["/api", "/api/v1", "/api/v1/nothing", "/api/v1/jobs/a/b/c", "/api/v2/jobs", "/nothing"]) {
        const told = yield* ask(path)
        expect([path, told.status, told.json.error.code]).toEqual([path, 404, "not_found"])
        expect(told.json.error.details.request_id).toBe(told.headers.get("x-request-id"))
      }
      for (const path of ["/v1", "/v1/nothing"]) {
        const told = yield* ask(path)
        expect([told.status, told.json.error.type]).toEqual([404, "invalid_request_error"])
        expect(told.headers.has("x-ratelimit-limit")).toBe(false)
      }
      for (const path of [
        "/api/v1/jobs/%zz",
        "/api/v1/jobs/%00",
        "/%",
        "/api/v1/jobs?cursor=%zz",
        "/api/v1/jobs/%2e%2e"
      ]) {
        const told = yield* rawRequest(port, [`GET ${path} HTTP/1.1`, "Host: localhost"])
        expect([path, told.status < 500 && told.status >= 400]).toEqual([path, true])
      }
    })
  )

  it.effect("gives another workspace's resource the answer of a missing one", () =>
    Effect.gen(function* () {
      const { ask, bob } = yield* TestServer
      const created = yield* Effect.all({
        job: ask("/api/v1/jobs", { body: { command: "true", gpu_type: "H100", max_runtime_minutes: 1 } }),
        volume: ask("/api/v1/storage", { body: { name: "hers", region: "eu-north", size_gb: 1 } }),
        key: ask("/api/v1/api-keys", { body: { name: "hers" } })
      })
      yield* ask(`/api/v1/jobs/${created.job.json.data.id}/logs`)
      const instance = (yield* ask(`/api/v1/jobs/${created.job.json.data.id}`)).json.data.instance_id
      const environment = (yield* ask("/api/v1/environments")).json.data[0].id
      const ids: Record<string, string> = {
        jobs: created.job.json.data.id,
        instances: instance,
        storage: created.volume.json.data.id,
        "api-keys": created.key.json.data.id,
        environments: environment
      }
      const bodies: Record<string, unknown> = {
        "PATCH storage": { size_gb: 2 },
        "PATCH environments": { monthly_budget_usd: 1 },
        "PATCH api-keys": { name: "mine" }
      }
      let compared = 0
      for (const { method, path } of infra.filter((route) => route.path.includes(":id"))) {
        const noun = path.split("/")[3]!
        expect(ids[noun], noun).toBeDefined()
        const ask1 = (id: string) =>
          ask(pathOf(path, id), {
            method,
            key: bob.key,
            headers: { "x-request-id": "same" },
            ...(bodies[`${method} ${noun}`] === undefined ? {} : { body: bodies[`${method} ${noun}`] })
          })
        const foreign = yield* ask1(ids[noun]!)
        const missing = yield* ask1(MISSING)
        const malformed = yield* ask1("not-an-id")
        expect([method, path, foreign.status]).toEqual([method, path, 404])
        expect(foreign.text).toBe(missing.text)
        expect(malformed.text).toBe(missing.text)
        compared += 1
      }
      expect(compared).toBeGreaterThan(10)
      for (const list of ["jobs", "instances", "storage", "api-keys", "environments", "billing/transactions"]) {
        const told = yield* ask(`/api/v1/${list}`, { key: bob.key })
        for (const id of Object.values(ids)) expect(told.text).not.toContain(id)
      }
      const jobOnHerVolume = { command: "true", gpu_type: "H100", max_runtime_minutes: 1, storage_id: ids.storage }
      expect((yield* ask("/api/v1/jobs", { key: bob.key, body: jobOnHerVolume })).status).toBe(404)
      expect((yield* ask("/api/v1/jobs", { key: bob.key, headers: { "x-environment": environment } })).status).toBe(404)
      // None of the requests changed the owner's resources.
      expect((yield* ask(`/api/v1/storage/${ids.storage}`)).json.data.size_gb).toBe(1)
      expect((yield* ask(`/api/v1/environments/${environment}`)).json.data.monthly_budget_usd).toBe(null)
    })
  )
})
