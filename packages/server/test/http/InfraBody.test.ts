/** Invalid bodies of the infrastructure surface: every issue is reported, within a bound. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Told } from "@sluice/testing/servers/TestServer"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

const MISSING = "01890a5d-ac96-774b-bcce-b302099a8057"
const pathsOf = (told: { readonly json: Told["json"] }) =>
  told.json.error.details.issues.map((issue: { path: string }) => issue.path)
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]))

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("a body", (it) => {
  it.effect("with every field wrong has every issue of a job reported", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const wrong = { env: keys(200), labels: keys(16), ...keys(13) }
      const all = ["command", "gpu_type", "max_runtime_minutes", ...Object.keys(keys(13))]
      for (const name of ["env", "labels"] as const)
        all.push(...Object.keys(wrong[name]).map((key) => `${name}.${key}`))
      expect(pathsOf(yield* ask("/api/v1/jobs", { body: wrong })).sort()).toEqual(all.sort())
    })
  )

  it.effect("of the largest size has every issue reported, and a larger one a single issue", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      // The body itself is a value.
      const most = pathsOf(yield* ask("/api/v1/jobs", { body: keys(499) }))
      const all = ["command", "gpu_type", "max_runtime_minutes", ...Object.keys(keys(499))]
      expect(most.sort()).toEqual(all.sort())
      const larger = yield* ask("/api/v1/jobs", { body: keys(500) })
      expect([larger.status, pathsOf(larger)]).toEqual([422, [""]])
      expect(larger.json.error.message).toContain("at most 500 values")
    })
  )

  it.effect("may begin with a byte order mark, on both surfaces", () =>
    Effect.gen(function* () {
      const { alice, port } = yield* TestServer
      const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 1 }
      for (const [path, body] of [
        ["/api/v1/jobs/quote", job],
        ["/v1/embeddings", { model: "sluice-embed-small", input: "a" }],
        ["/v1/chat/completions", { model: "sluice-small", messages: [{ role: "user", content: "hi" }], max_tokens: 1 }]
      ] as const) {
        const sent = (text: string) =>
          Effect.promise(() =>
            fetch(`http://127.0.0.1:${port}${path}`, {
              method: "POST",
              headers: { authorization: `Bearer ${alice.key}`, "content-type": "application/json" },
              body: Buffer.from(text)
            }).then(({ status }) => status)
          )
        expect([path, yield* sent(`\ufeff${JSON.stringify(body)}`)]).toEqual([path, 200])
        expect([400, 422]).toContain(yield* sent(`\ufeff\ufeff${JSON.stringify(body)}`))
      }
    })
  )

  it.effect("of a POST without input may be empty or an object without fields, and nothing else", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 1 }
      const { id } = (yield* ask("/api/v1/jobs", { body: job })).json.data
      // The job has ended, so the requests fail for its state only after their body was accepted.
      yield* ask(`/api/v1/jobs/${id}/logs`)
      const machine = (yield* ask(`/api/v1/jobs/${id}`)).json.data.instance_id
      const json = "application/json"
      for (const [path, fine] of [
        [`/api/v1/jobs/${id}/cancel`, 409],
        [`/api/v1/jobs/${MISSING}/cancel`, 404],
        [`/api/v1/instances/${machine}/stop`, 200],
        ["/api/v1/instances/not-an-id/stop", 404]
      ] as const) {
        for (const [type, body, status, issues] of [
          [undefined, undefined, fine, undefined],
          [json, "", fine, undefined],
          ["application/x-www-form-urlencoded", "", fine, undefined],
          [json, "{}", fine, undefined],
          [json, "{", 422, [""]],
          [json, "[1]", 422, [""]],
          [json, "null", 422, [""]],
          [json, '{"foo":1,"__proto__":2}', 422, ["foo", "__proto__"]],
          ["text/plain", "{}", 415, undefined],
          ["application/x-www-form-urlencoded", "a=1", 415, undefined]
        ] as const) {
          const headers: Record<string, string> = type === undefined ? {} : { "content-type": type }
          const told = yield* ask(path, { method: "POST", headers, body })
          expect([path, type, body, told.status]).toEqual([path, type, body, status])
          if (issues !== undefined) expect([path, body, pathsOf(told)]).toEqual([path, body, issues])
        }
        expect((yield* ask(path, { body: { name: "x".repeat(1_100_000) } })).status).toBe(413)
      }
    })
  )

  it.effect("with an unbounded number of issues has one field named, at every route that takes a body", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 1 }
      const endless: ReadonlyArray<readonly [string, object]> = [
        ["env", { ...job, env: keys(80_000) }],
        ["labels", { labels: keys(80_000), ...job }],
        ["scopes", { name: "x", scopes: Array.from({ length: 200_000 }, () => 1) }],
        ["", { ...job, ...keys(80_000) }]
      ]
      const creates = ["jobs", "jobs/quote", "storage", "api-keys"].map((name) => ["POST", name] as const)
      const changes = ["storage", "api-keys", "environments"].map((name) => ["PATCH", `${name}/${MISSING}`] as const)
      for (const [method, path] of [...creates, ...changes]) {
        for (const [field, body] of endless) {
          const told = yield* ask(`/api/v1/${path}`, { method, body })
          expect([method, path, told.status, pathsOf(told)]).toEqual([method, path, 422, [field]])
          expect(told.json.error.message).toContain("at most 500 values")
        }
      }
    })
  )
})
