/** Rights of a request: its environment, the scopes of its key, and the order of the money checks (decisions: Tenancy, Jobs). */
import { expect, layer } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Told } from "@sluice/testing/servers/TestServer"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 1 }
const MISSING = "01890a5d-ac96-774b-bcce-b302099a8057"
const pathsOf = (told: Told) => told.json.error.details.issues.map((issue: { path: string }) => issue.path)

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("rights", (it) => {
  it.effect("resolve the environment of a request", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const { id } = (yield* ask("/api/v1/environments")).json.data[0]
      for (const query of ["", "?environment=default", `?environment=${id}`])
        expect((yield* ask(`/api/v1/jobs${query}`)).status).toBe(200)
      expect((yield* ask("/api/v1/jobs?environment=default", { headers: { "x-environment": "default" } })).status).toBe(
        200
      )
      for (const [query, header] of [
        [id, "default"],
        ["default", id],
        [id, id.toUpperCase()]
      ]) {
        const told = yield* ask(`/api/v1/jobs?environment=${query}`, { headers: { "x-environment": header } })
        expect([query, header, told.status]).toEqual([query, header, 200])
      }
      const unknown = yield* ask(`/api/v1/jobs?environment=${MISSING}`, { headers: { "x-environment": "default" } })
      expect([unknown.status, pathsOf(unknown)]).toEqual([422, ["environment"]])
      const both = yield* ask("/api/v1/jobs?environment=default", { headers: { "x-environment": "other" } })
      expect([both.status, pathsOf(both)]).toEqual([422, ["environment"]])
      for (const query of [
        "?environment=other",
        "?environment=",
        "?environment=%00",
        `?environment=${"x".repeat(5_000)}`
      ]) {
        const told = yield* ask(`/api/v1/jobs${query}`)
        expect([query.slice(0, 30), told.status, told.json.error.code]).toEqual([query.slice(0, 30), 404, "not_found"])
      }
    })
  )

  it.effect("require the scope, name it, and never let a key create a stronger one", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const make = (body: unknown, key?: string) =>
        ask("/api/v1/api-keys", { body, ...(key === undefined ? {} : { key }) })
      const reader = (yield* make({ name: "reader", scopes: ["jobs:read", "keys:write"] })).json.data
      expect((yield* ask("/api/v1/jobs", { key: reader.key })).status).toBe(200)
      const refused = yield* ask("/api/v1/jobs", { key: reader.key, body: job })
      expect([refused.status, refused.json.error.code, refused.json.error.details.scope]).toEqual([
        403,
        "forbidden",
        "jobs:write"
      ])
      const stronger = yield* make({ name: "stronger", scopes: ["jobs:write"] }, reader.key)
      expect([stronger.status, stronger.json.error.details.scope]).toEqual([403, "jobs:write"])
      const child = yield* make({ name: "child" }, reader.key)
      expect([...child.json.data.scopes].sort()).toEqual(["jobs:read", "keys:write"])
      for (const body of [
        { name: "x", scopes: [] },
        { name: "x", scopes: ["all"] },
        { name: "x", rate_limit_rpm: 0 },
        { name: "x", environment_id: "default" }
      ]) {
        expect((yield* make(body)).status).toBe(422)
      }
    })
  )

  it.effect("report a spent budget before the body is checked", () =>
    Effect.gen(function* () {
      const { ask, bob } = yield* TestServer
      const { id } = (yield* ask("/api/v1/environments", { key: bob.key })).json.data[0]
      const set = (monthly_budget_usd: unknown) =>
        ask(`/api/v1/environments/${id}`, { key: bob.key, method: "PATCH", body: { monthly_budget_usd } })
      expect((yield* ask("/api/v1/jobs", { key: bob.key, body: "{" })).status).toBe(422)
      expect((yield* set(12.5)).json.data.monthly_budget_usd).toBe(12.5)
      expect((yield* ask("/api/v1/jobs/quote", { key: bob.key, body: job })).json.data).toMatchObject({
        affordable: true,
        budget_remaining_usd: 12.5
      })
      expect((yield* ask("/api/v1/jobs", { key: bob.key, body: job })).status).toBe(201)
      for (const bad of [-1, "1", 1e12, 1e-10]) expect((yield* set(bad)).status).toBe(422)
      expect((yield* set(0)).json.data.monthly_budget_usd).toBe(0)
      for (const body of [job, "{", {}]) {
        const told = yield* ask("/api/v1/jobs", { key: bob.key, body })
        expect([told.status, told.json.error.code]).toEqual([402, "BUDGET_REACHED"])
      }
      expect((yield* ask("/api/v1/jobs", { key: undefined, body: job })).status).toBe(401)
      expect((yield* set(null)).json.data.monthly_budget_usd).toBe(null)
      expect((yield* ask("/api/v1/jobs", { key: bob.key, body: "{" })).status).toBe(422)
      expect((yield* ask("/api/v1/jobs", { key: bob.key, body: job })).status).toBe(201)
    })
  )

  it.effect("distinguish money from machines in refusals", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const dear = yield* ask("/api/v1/jobs", { body: { ...job, gpu_count: 8, max_runtime_minutes: 1440 } })
      expect([dear.status, dear.json.error.code]).toEqual([402, "insufficient_credits"])
      expect(dear.json.error.details.required_usd).toBeCloseTo(2 * 8 * 24.25)
      const refused = yield* ask("/api/v1/jobs", { body: { ...job, gpu_type: "refused" } })
      expect([refused.status, refused.json.error.code]).toEqual([500, "internal_error"])
      const failed = yield* ask(`/api/v1/jobs/${refused.json.error.details.job_id}`)
      expect([failed.json.data.status, failed.json.data.exit_code]).toEqual(["failed", null])
      const volume = yield* ask("/api/v1/storage", { body: { name: "far", region: "eu-north", size_gb: 1 } })
      const elsewhere = { ...job, gpu_type: "refused", storage_id: volume.json.data.id }
      for (const path of ["/api/v1/jobs", "/api/v1/jobs/quote"]) {
        const told = yield* ask(path, { body: elsewhere })
        expect([told.status, told.json.error.details.issues[0].path]).toEqual([422, "storage_id"])
      }
      const quote = yield* ask("/api/v1/jobs/quote", { body: job })
      expect(quote.json.data).toMatchObject({ cost_per_hour: 2, affordable: true })
    })
  )

  it.effect("apply in one environment under each of its names, and in none where a request names two", () =>
    Effect.gen(function* () {
      const { alice, ask } = yield* TestServer
      const sql = yield* PgClient.PgClient
      const id = "01890a5d-ac96-774b-bcce-b302099a8058"
      yield* sql.unsafe(
        `insert into environments (id, workspace_id, name, is_default, month, created_at, wake_at)
           select $1, workspace_id, 'other', false, month, created_at, wake_at from environments where workspace_id = $2`,
        [id, alice.workspaceId]
      )
      const asked = (query: string | undefined, header: string | undefined) =>
        ask(`/api/v1/jobs${query === undefined ? "" : `?environment=${query}`}`, {
          body: job,
          headers: header === undefined ? {} : { "x-environment": header }
        })
      for (const [query, header] of [
        ["other", undefined],
        [undefined, "other"],
        ["other", id],
        [id, "other"]
      ] as const) {
        const { json, status } = yield* asked(query, header)
        expect([query, header, status, json.data?.environment_id]).toEqual([query, header, 201, id])
      }
      for (const [query, header] of [
        ["other", "default"],
        ["default", id]
      ] as const) {
        const told = yield* asked(query, header)
        expect([query, header, told.status]).toEqual([query, header, 422])
        expect(pathsOf(told)).toEqual(["environment"])
      }
    })
  )
})
