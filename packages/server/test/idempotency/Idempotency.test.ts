/** `Idempotency-Key` on every POST (decisions: Infrastructure surface, common rules). */
import { expect, layer } from "@effect/vitest"
import { InfraApi } from "@sluice/api/InfraApi"
import { routesOf } from "@sluice/server/http/RouteTable"
import { Effect } from "effect"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 1 }
const hasIdempotencyKey = (key: string) => ({ headers: { "idempotency-key": key } })

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("Idempotency-Key", (it) => {
  it.effect("replays the first answer and creates nothing twice", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const first = yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("a"), body: job })
      const again = yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("a"), body: job })
      expect([first.status, again.status]).toEqual([201, 201])
      expect([first.headers.get("idempotent-replayed"), again.headers.get("idempotent-replayed")]).toEqual([
        null,
        "true"
      ])
      expect(again.text).toBe(first.text)
      expect(again.headers.get("location")).toBe(first.headers.get("location"))
      expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"))
      expect((yield* ask("/api/v1/jobs")).json.meta.total).toBe(1)
    })
  )

  it.effect("refuses another body, path or environment under the same key", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("b"), body: job })
      const others = [
        ask("/api/v1/jobs", { ...hasIdempotencyKey("b"), body: { ...job, name: "other" } }),
        ask("/api/v1/jobs/quote", { ...hasIdempotencyKey("b"), body: job }),
        ask("/api/v1/jobs?environment=default", { ...hasIdempotencyKey("b"), body: job })
      ]
      for (const other of others) {
        const told = yield* other
        expect([told.status, told.json.error.code]).toEqual([422, "idempotency_mismatch"])
      }
    })
  )

  it.effect("is scoped to its workspace", () =>
    Effect.gen(function* () {
      const { ask, bob } = yield* TestServer
      const hers = yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("shared"), body: job })
      const his = yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("shared"), body: job, key: bob.key })
      expect(his.status).toBe(201)
      expect(his.json.data.id).not.toBe(hers.json.data.id)
    })
  )

  it.effect("replays a secret only to the API key of the first request", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const make = (name: string, scopes?: ReadonlyArray<string>) =>
        ask("/api/v1/api-keys", { body: { name, ...(scopes === undefined ? {} : { scopes }) } })
      const limited = (yield* make("limited", ["keys:write", "jobs:write"])).json.data.key
      const order = { ...hasIdempotencyKey("secret"), body: { name: "strong" } }
      const first = yield* ask("/api/v1/api-keys", order)
      expect((yield* ask("/api/v1/api-keys", order)).text).toBe(first.text)
      const other = yield* ask("/api/v1/api-keys", { ...order, key: limited })
      expect([other.status, other.json.error.code]).toEqual([422, "idempotency_mismatch"])
      expect(other.text).not.toContain(first.json.data.key)
      // An answer without a secret is replayed to all keys of the workspace: a retry after a change of keys makes no second job.
      const made = yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("rotated"), body: job })
      expect((yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("rotated"), body: job, key: limited })).text).toBe(
        made.text
      )
    })
  )

  it.effect("runs one of many concurrent requests and makes the others wait or get its answer", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const before = (yield* ask("/api/v1/jobs")).json.meta.total
      const told = yield* Effect.all(
        Array.from({ length: 12 }, () => ask("/api/v1/jobs", { ...hasIdempotencyKey("race"), body: job })),
        { concurrency: "unbounded" }
      )
      const made = told.filter((one) => one.status === 201)
      const waiting = told.filter((one) => one.status === 409)
      expect(made.length + waiting.length).toBe(12)
      expect(new Set(made.map((one) => one.json.data.id)).size).toBe(1)
      for (const one of waiting) {
        expect([one.json.error.code, one.headers.get("x-should-retry")]).toEqual(["idempotency_in_progress", "true"])
      }
      expect((yield* ask("/api/v1/jobs")).json.meta.total).toBe(before + 1)
      expect(
        (yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("race"), body: job })).headers.get("idempotent-replayed")
      ).toBe("true")
    })
  )

  it.effect("keeps no refusal of the request itself, and keeps a failure that created a job", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      expect((yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("c"), body: {} })).status).toBe(422)
      expect((yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("c"), body: job })).status).toBe(201)
      const asText = {
        headers: { "idempotency-key": "typed", "content-type": "text/plain" },
        body: JSON.stringify(job)
      }
      for (const told of [yield* ask("/api/v1/jobs", asText), yield* ask("/api/v1/jobs", asText)]) {
        expect([told.status, told.json.error.code]).toEqual([415, "unsupported_media_type"])
        expect(told.json.error.details.request_id).toBe(told.headers.get("x-request-id"))
      }
      expect((yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("typed"), body: job })).status).toBe(201)
      const refused = { ...job, gpu_type: "refused" }
      const first = yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("d"), body: refused })
      const again = yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("d"), body: refused })
      expect([first.status, again.status]).toEqual([500, 500])
      expect(again.json.error.details.job_id).toBe(first.json.error.details.job_id)
    })
  )

  it.effect("replays a new API key's text only to the API key of its request", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const first = yield* ask("/api/v1/api-keys", { ...hasIdempotencyKey("e"), body: { name: "once" } })
      const again = yield* ask("/api/v1/api-keys", { ...hasIdempotencyKey("e"), body: { name: "once" } })
      expect(again.json.data.key).toBe(first.json.data.key)
      expect((yield* ask("/api/v1/jobs", { key: again.json.data.key })).status).toBe(200)
    })
  )

  it.effect("is accepted by every POST and refused when it is malformed", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const posts = routesOf(InfraApi).filter((route) => route.method === "POST")
      expect(posts.length).toBeGreaterThan(5)
      for (const { path } of posts) {
        for (const key of ["x".repeat(256), "caf\u00e9"]) {
          const told = yield* ask(path.replace(":id", "x"), { ...hasIdempotencyKey(key), body: {} })
          expect([path, told.status, told.json.error.details.issues[0].path]).toEqual([path, 422, "Idempotency-Key"])
        }
      }
      const missing = "/api/v1/jobs/01890a5d-ac96-774b-bcce-b302099a8057/cancel"
      const first = yield* ask(missing, { ...hasIdempotencyKey("f"), method: "POST" })
      const again = yield* ask(missing, { ...hasIdempotencyKey("f"), method: "POST" })
      expect([first.status, again.status, again.headers.get("idempotent-replayed")]).toEqual([404, 404, "true"])
    })
  )

  it.effect("replays the same answer; an error names the id of the current request", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const wanted = { ...job, gpu_type: "refused" }
      const first = yield* ask("/api/v1/jobs", { ...hasIdempotencyKey("named"), body: wanted })
      const again = yield* ask("/api/v1/jobs", {
        headers: { "idempotency-key": "named", "x-request-id": "mine" },
        body: wanted
      })
      expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([500, "true"])
      for (const told of [first, again])
        expect(told.json.error.details.request_id).toBe(told.headers.get("x-request-id"))
      expect(again.text).toBe(first.text.replace(first.json.error.details.request_id, "mine"))
    })
  )
})
