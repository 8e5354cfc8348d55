/** Queries of lists: integers in digits alone, cursors of one list, and issues that name what is meant. */
import { expect, layer } from "@effect/vitest"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"
import { Effect } from "effect"

const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 5 }

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("queries of lists", (it) => {
  const refused = (path: string) =>
    Effect.flatMap(TestServer, ({ ask }) =>
      Effect.map(ask(`/api/v1${path}`), ({ json, status }) => [status, json.error?.details.issues[0]])
    )

  it.effect("an integer has digits alone", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const { id } = (yield* ask("/api/v1/jobs", { body: job })).json.data
      const spellings = ["1e1", "%2B5", "+5", "%205", "5%20", "0x5", "5.0", "-5", "0b1", "Infinity", "٥", "1_0", ""]
      for (const [path, name] of [
        ["/jobs", "limit"],
        ["/templates", "limit"],
        ["/billing/usage/breakdown", "limit"],
        [`/jobs/${id}/logs`, "offset"],
        [`/jobs/${id}/logs`, "tail"]
      ] as const) {
        for (const spelling of spellings) {
          const [status, issue] = yield* refused(
            `${path}?${name}=${spelling}${name === "limit" ? "" : "&follow=false"}`
          )
          expect([path, name, spelling, status, issue?.path]).toEqual([path, name, spelling, 422, name])
          expect(issue.message).toContain("must be an integer")
        }
        const told = yield* ask(`/api/v1${path}?${name}=005${name === "limit" ? "" : "&follow=false"}`)
        expect([path, name, told.status]).toEqual([path, name, 200])
      }
    })
  )

  it.effect("a cursor counts in its own list, with its own filters and environment", () =>
    Effect.gen(function* () {
      const { alice, ask } = yield* TestServer
      for (let i = 0; i < 3; i++) {
        yield* ask("/api/v1/jobs", { body: { ...job, name: `n${i % 2}`, labels: { a: "b" } } })
        yield* ask("/api/v1/storage", { body: { name: `v${i}`, region: "us-east", size_gb: 1 } })
        yield* ask("/api/v1/api-keys", { body: { name: `k${i}` } })
      }
      const cursorOf = (path: string) =>
        Effect.map(ask(`/api/v1${path}`), ({ json }): string => encodeURIComponent(json.meta.cursor))
      const other = [422, { path: "cursor", message: expect.stringContaining("another list") }]
      const jobs = yield* cursorOf("/jobs?limit=1")
      const labelled = yield* cursorOf("/jobs?limit=1&label=a:b")
      const templates = yield* cursorOf("/storage/regions?limit=1")
      for (const path of ["/storage", "/api-keys", "/instances", "/environments", "/billing/transactions"]) {
        expect([path, yield* refused(`${path}?cursor=${jobs}`)]).toEqual([path, other])
      }
      expect(yield* refused(`/jobs?label=a:b&cursor=${jobs}`)).toEqual(other)
      expect(yield* refused(`/jobs?cursor=${labelled}`)).toEqual(other)
      expect(yield* refused(`/jobs?label=a:b&name=n1&cursor=${labelled}`)).toEqual(other)
      expect(yield* refused(`/instances/types?cursor=${templates}`)).toEqual(other)
      expect(yield* refused(`/jobs?cursor=${templates}`)).toMatchObject([422, { path: "cursor" }])
      for (const path of [
        `/jobs?cursor=${jobs}`,
        `/jobs?limit=50&environment=default&cursor=${jobs}`,
        `/jobs/?cursor=${jobs}&limit=2`,
        `/jobs?cursor=${labelled}&label=a:b`
      ]) {
        expect([path, (yield* ask(`/api/v1${path}`)).status]).toEqual([path, 200])
      }
      const second = (yield* ask("/api/v1/api-keys", { body: { name: "second" } })).json.data.key
      expect((yield* ask(`/api/v1/jobs?cursor=${jobs}`, { key: second })).status).toBe(200)
      expect(alice.key).not.toBe(second)
    })
  )

  it.effect("a field without a name is named in its issue, on both surfaces", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const [path, body, name] of [
        ["/api/v1/jobs", { ...job, "": 1 }, '""'],
        ["/api/v1/jobs", { ...job, env: { "": "a" } }, 'env.""'],
        ["/api/v1/api-keys", { name: "k", "": 1 }, '""'],
        ["/api/v1/storage", { name: "v", region: "us-east", size_gb: 1, "": 1 }, '""'],
        ["/api/v1/jobs/x/cancel", { "": 1 }, '""']
      ] as const) {
        const { json, status } = yield* ask(path, { body })
        expect([path, status, json.error.details.issues[0].path]).toEqual([path, 422, name])
        expect(json.error.message).toContain(name)
      }
      expect(yield* refused("/jobs?=1")).toEqual([422, { path: '""', message: expect.stringContaining("is not a") }])
      const metadata = { model: "m", input: "hi", metadata: { "": "\ud800" } }
      expect((yield* ask("/v1/responses", { body: metadata })).json.error.param).toBe('metadata.""')
    })
  )

  it.effect("a time whose plus was decoded as a blank is told of the plus", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const name of ["created_after", "created_before"]) {
        const [status, issue] = yield* refused(`/jobs?${name}=2026-01-31T12:00:00+02:00`)
        expect([status, issue]).toEqual([422, { path: name, message: expect.stringContaining("%2B") }])
        expect((yield* refused(`/jobs?${name}=yesterday`))[1].message).not.toContain("%2B")
        const told = yield* ask(`/api/v1/jobs?${name}=2026-01-31T12:00:00%2B02:00`)
        expect([name, told.status]).toEqual([name, 200])
      }
    })
  )
})
